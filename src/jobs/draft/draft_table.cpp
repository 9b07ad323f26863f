// `init` from a CSV or Parquet file: rows of a table, or in CSV of images or texts where a column
// holds those.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/table/csv_source.h"
#include "data/table/parquet_source.h"
#include "data/table/table.h"
#include "jobs/draft/draft.h"
#include "jobs/draft/table_profile.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::int64_t rows_for_training(std::int64_t rows) {
  return rows - std::llround(kHeldOut * static_cast<double>(rows));
}

void require_targets(const TableProfile& profile, const ColumnProfile& target) {
  if (target.missing > 0)
    throw Error(Exit::data, profile.path + ": " + counted(target.missing, "row") + " of " +
                                with_commas(profile.rows) + " without a '" + target.name +
                                "', which is to be predicted; take them out, or name another "
                                "column with --target");
}

std::vector<ClassCount> classes_in(const ColumnProfile& target, std::int64_t rows) {
  std::map<std::string, std::int64_t> counts;
  for (std::int64_t row = 0; row < rows; ++row)
    ++counts[target.value(static_cast<std::size_t>(row))];
  std::vector<ClassCount> classes;
  for (const auto& [name, count] : counts) classes.push_back({name, count, 0});
  return classes;
}

std::string found_target(const InitRequest& request, const std::string& target) {
  return "target: column '" + target + "'" +
         (request.target.empty() ? "; --target COLUMN takes another" : "");
}

[[noreturn]] void refuse_without_target(const TableProfile& profile) {
  throw Error(Exit::data, profile.path +
                              ": no column looks like a target; name one with --target: " +
                              join(profile.names(), ", "));
}

// a table

/// A file as its format is read.
struct TableFile {
  const TableSource& source;
  std::string dataset;                     // `type` of a recipe's data
  Auto<std::vector<std::string>> missing;  // its default
};

struct TablePlan {
  TableOptions options;
  const ColumnProfile* target = nullptr;
  bool classification = true;
  std::vector<std::string> identifiers, empty, contents;
  std::string split;
};

/// Images or texts, which are no categories of a table.
bool holds_contents(const ColumnProfile& column) {
  return holds_images(column) || holds_texts(column);
}

TablePlan plan_table(const InitRequest& request, const TableProfile& profile) {
  TablePlan plan;
  const auto may_be = [&](const std::string& name) {
    const auto& column = profile.column(name);
    return column.distinct > 1 && !is_identifier(profile, column) && !says_split(column) &&
           !holds_contents(column);
  };
  const auto target = choose_target(request, profile.names(), may_be);
  if (target.empty()) refuse_without_target(profile);
  plan.target = &profile.column(target);
  require_targets(profile, *plan.target);
  plan.classification = holds_classes(*plan.target);
  for (const auto& column : profile.columns) {
    if (column.name == target) continue;
    if (says_split(column))
      plan.split = column.name;
    else if (column.distinct < 2)
      plan.empty.push_back(column.name);
    else if (holds_contents(column))
      plan.contents.push_back(column.name);
    else if (is_identifier(profile, column))
      plan.identifiers.push_back(column.name);
  }
  auto& options = plan.options;
  options.file = profile.path;
  options.target.column = target;
  options.task = plan.classification ? TableTask::classification : TableTask::regression;
  options.drop = plan.identifiers;
  for (const auto& more : {plan.empty, plan.contents, profile.unreadable})
    options.drop.insert(options.drop.end(), more.begin(), more.end());
  if (plan.split.empty()) return plan;
  options.valid.fraction.reset();
  options.valid.column = plan.split;
  return plan;
}

/// A seed whose split trains on every class, which a rare one may fail.
Table try_splits(const TableSource& source, TablePlan& plan) {
  constexpr std::int64_t seeds = 20;
  while (true) try {
      return read_table(source, plan.options);
    } catch (const Error&) {
      const bool by_seed = plan.options.valid.fraction.has_value();
      if (!by_seed || ++plan.options.valid.seed >= ValidRows{}.seed + seeds) throw;
    }
}

std::string valid_of_table(const TablePlan& plan) {
  if (!plan.split.empty()) return "{column: " + yaml_text(plan.split) + ", fraction: null}\n";
  return "{fraction: 0.2, seed: " + std::to_string(plan.options.valid.seed) +
         "}     # 20 % of the rows, always the same\n";
}

std::string table_metrics(const TablePlan& plan, std::size_t classes) {
  if (!plan.classification) return "[rmse, mae, r2]";
  return std::string("[accuracy, {type: f1, average: macro}") +
         (classes == 2 ? ", roc_auc_binary]" : "]");
}

std::string table_recipe(const InitRequest& request, const std::string& dataset,
                         const TablePlan& plan, const Table& table) {
  const auto training = static_cast<std::int64_t>(table.splits[0].rows.size());
  const int epochs = training < 1000 ? 40 : training < 10000 ? 20 : training < 100000 ? 8 : 3;
  std::string data = "  type: " + dataset + "\n  file: " + yaml_text(request.written) +
                     "\n  target: " + yaml_text(plan.target->name) +
                     "\n  task: " + (plan.classification ? "classification" : "regression") + "\n";
  std::vector<std::string> names, numbers;
  for (const auto& column : table.fit.categories)
    if (!column.missing_of) names.push_back(column.name);
  for (const auto& column : table.fit.continuous) numbers.push_back(column.name);
  data += "  categories: " + yaml_list(names) + "\n  continuous: " + yaml_list(numbers) + "\n";
  data += "  valid: " + valid_of_table(plan);
  const auto metric = plan.classification ? "accuracy" : "rmse";
  return "model: {type: tabular, layers: " +
         std::string(training < 5000 ? "[64, 32]" : "[200, 100]") +
         (plan.classification ? "" : output_range(*plan.target)) + "}\n\ndata:\n" + data +
         "\nbatch: {global: " + std::to_string(fitting_batch(training / 2, 256)) +
         "}\ntrain: {duration: " + std::to_string(epochs) +
         " epochs}\nloss: " + (plan.classification ? "cross_entropy" : "mse") +
         "\nmetrics: " + table_metrics(plan, table.fit.target_classes.size()) +
         "\noptimizer: {type: adamw, lr: 5e-3, weight_decay: 1e-2, no_decay: [norm, bias]}\n" +
         closing_lines(metric, epochs);
}

std::vector<std::string> found_in_table(const InitRequest& request, const TableProfile& profile,
                                        const TablePlan& plan, const Table& table) {
  std::vector<std::string> found;
  const auto& target = *plan.target;
  if (plan.classification) {
    found = found_classes(classes_in(target, profile.rows), "row");
  } else {
    const auto [low, high] =
        std::minmax_element(target.cells.numbers.begin(), target.cells.numbers.end());
    found.push_back(counted(profile.rows, "row") + " with a number each, " + format_number(*low) +
                    " to " + format_number(*high));
  }
  found.push_back(found_target(request, target.name));
  std::int64_t names = 0;
  for (const auto& column : table.fit.categories) names += !column.missing_of;
  found.push_back(counted(names, "column") + " of names, " +
                  counted(static_cast<std::int64_t>(table.fit.continuous.size()), "column") +
                  " of numbers");
  if (!plan.identifiers.empty())
    found.push_back("left out, since they only tell rows apart: " + join(plan.identifiers, ", "));
  if (!plan.empty.empty())
    found.push_back("left out, since all rows are the same: " + join(plan.empty, ", "));
  if (!plan.contents.empty())
    found.push_back("left out, since texts and names of images are read from a CSV file: " +
                    join(plan.contents, ", "));
  if (!profile.unreadable.empty())
    found.push_back("left out, since they hold neither numbers nor text: " +
                    join(profile.unreadable, ", "));
  found.push_back(found_split(plan.split.empty() ? "" : "column '" + plan.split + "'"));
  return found;
}

/// The user may name a column that no network can be trained on.
void require_readable(const InitRequest& request, const TableProfile& profile) {
  const auto& none = profile.unreadable;
  if (std::find(none.begin(), none.end(), request.target) != none.end())
    throw Error(Exit::data, profile.path + ": column '" + request.target +
                                "' holds neither numbers nor text; name another one with --target");
}

Draft draft_csv(const InitRequest& request, const TableFile& file, const TableProfile& profile) {
  require_readable(request, profile);
  if (auto ratings = draft_ratings(request, profile)) return *ratings;
  auto plan = plan_table(request, profile);
  plan.options.missing = file.missing;
  const auto table = try_splits(file.source, plan);
  if (table.fit.categories.empty() && table.fit.continuous.empty())
    throw Error(Exit::data,
                profile.path + ": no column is left to predict '" + plan.target->name + "' from");
  return {found_in_table(request, profile, plan, table),
          table_recipe(request, file.dataset, plan, table)};
}

// images

/// What stands between labels where many cells have several; empty where none has.
std::string label_delimiter(const ColumnProfile& labels) {
  if (labels.numbers()) return "";
  for (const char mark : {'|', ';', ',', ' '}) {
    std::set<std::string> parts;
    std::int64_t several = 0;
    for (const auto name : labels.cells.names) {
      several += name.find(mark) != std::string_view::npos;
      for (const auto& part : split(name, mark)) parts.insert(part);
    }
    const bool fewer = static_cast<std::int64_t>(parts.size()) < labels.distinct;
    if (fewer && 3 * several >= labels.distinct) return {mark};
  }
  return "";
}

std::vector<ClassCount> label_counts(const ColumnProfile& labels, std::int64_t rows,
                                     const std::string& delimiter) {
  if (delimiter.empty()) return classes_in(labels, rows);
  std::map<std::string, std::int64_t> counts;
  for (const auto code : labels.cells.codes)
    for (const auto& part :
         split(code < 0 ? "" : labels.cells.names[static_cast<std::size_t>(code)], delimiter[0]))
      if (!part.empty()) ++counts[part];
  std::vector<ClassCount> classes;
  for (const auto& [name, count] : counts) classes.push_back({name, count, 0});
  return classes;
}

Draft draft_image_rows(const InitRequest& request, const TableProfile& profile,
                       const ColumnProfile& paths) {
  const auto may_be = [&](const std::string& name) {
    const auto& column = profile.column(name);
    return column.name != paths.name && column.distinct > 1 && !says_split(column) &&
           !is_identifier(profile, column);
  };
  const auto label = choose_target(request, profile.names(), may_be);
  if (label.empty()) refuse_without_target(profile);
  const auto& labels = profile.column(label);
  const auto delimiter = label_delimiter(labels);
  if (delimiter.empty()) require_targets(profile, labels);
  const auto root = root_of_paths(profile, paths);
  const auto split = std::find_if(profile.columns.begin(), profile.columns.end(), says_split);
  const bool has_split = split != profile.columns.end();
  const auto classes = label_counts(labels, profile.rows, delimiter);
  Draft draft;
  draft.found = found_classes(classes, delimiter.empty() ? "image" : "label");
  draft.found.push_back(found_target(request, label));
  draft.found.push_back(found_split(has_split ? "column '" + split->name + "'" : ""));
  std::string data = "  type: manifest\n  file: " + yaml_text(request.written) + "\n";
  const auto home = fs::path(request.written).parent_path();
  if (!root.empty()) data += "  root: " + yaml_text((home / root).string()) + "\n";
  data += "  columns: {path: " + yaml_text(paths.name) + ", label: " + yaml_text(label) +
          (has_split ? ", split: " + yaml_text(split->name) : "") + "}\n";
  if (!delimiter.empty()) data += "  label_delimiter: \"" + delimiter + "\"\n";
  if (!has_split)
    data += "  valid: {fraction: 0.2, seed: 42}     # 20 % of the images, always the same\n";
  std::vector<std::string> sample;
  const auto step = std::max<std::size_t>(1, paths.cells.names.size() / 200);
  for (std::size_t i = 0; i < paths.cells.names.size(); i += step)
    sample.push_back(
        (fs::absolute(profile.path).parent_path() / root / paths.cells.names[i]).string());
  draft.recipe = image_recipe(data, classes, rows_for_training(profile.rows), sample, draft.found,
                              !delimiter.empty());
  return draft;
}

// texts

Draft draft_text_rows(const InitRequest& request, const TableProfile& profile,
                      const ColumnProfile& texts) {
  const auto may_be = [&](const std::string& name) {
    const auto& column = profile.column(name);
    return column.name != texts.name && column.distinct > 1 && holds_classes(column) &&
           !holds_texts(column) && !is_identifier(profile, column) && !says_split(column);
  };
  const auto label = choose_target(request, profile.names(), may_be);
  if (label.empty()) refuse_without_target(profile);
  require_targets(profile, profile.column(label));
  const auto classes = classes_in(profile.column(label), profile.rows);
  Draft draft;
  draft.found = found_classes(classes, "text");
  draft.found.push_back("texts: column '" + texts.name + "'");
  draft.found.push_back(found_target(request, label));
  draft.found.push_back(found_split(""));
  const auto data = "  type: text_csv\n  file: " + yaml_text(request.written) + "\n  text: [" +
                    yaml_text(texts.name) + "]\n  label: " + yaml_text(label) +
                    "\n  valid: {fraction: 0.2, seed: 42}     # 20 % of the rows, always the "
                    "same\n";
  draft.recipe = text_recipe(data, classes, rows_for_training(profile.rows));
  return draft;
}

}  // namespace

Draft draft_csv(const InitRequest& request) {
  const CsvSource csv(request.path);
  require_header(csv);
  const auto profile = profile_of(csv, pandas_missing());
  const auto& columns = profile.columns;
  if (const auto images = std::find_if(columns.begin(), columns.end(), holds_images);
      images != columns.end())
    return lists_points(profile) && request.target.empty()
               ? draft_points(request, profile, *images)
               : draft_image_rows(request, profile, *images);
  const auto longer = [](const auto& a, const auto& b) { return a.letters < b.letters; };
  const auto longest = std::max_element(columns.begin(), columns.end(), longer);
  const bool texts = longest != columns.end() && holds_texts(*longest);
  return texts ? draft_text_rows(request, profile, *longest)
               : draft_csv(request, {csv, "csv_table", {}}, profile);
}

Draft draft_parquet(const InitRequest& request) {
  const ParquetSource parquet(request.path);
  const std::vector<std::string> only_nulls;
  return draft_csv(request, {parquet, "parquet_table", {only_nulls}},
                   profile_of(parquet, only_nulls));
}

}  // namespace ddptrain
