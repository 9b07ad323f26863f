// `init` from a CSV or Parquet file: rows of a table, or in CSV of images or texts where a column
// holds those.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "base/error.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "jobs/draft/csv_sniff.h"
#include "jobs/draft/draft_language.h"
#include "jobs/draft/draft_rows.h"
#include "jobs/draft/table_profile.h"
#include "jobs/draft/table_training.h"
#include "sources/table/csv_source.h"
#include "sources/table/parquet_source.h"
#include "sources/table/table.h"

namespace ddptrain {
namespace {

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
  std::vector<std::string> identifiers, empty, texts, images;
  std::string split;
};

bool may_be_target(const TableProfile& profile, const ColumnProfile& column) {
  return column.distinct > 1 && !is_identifier(profile, column) && !says_split(column) &&
         !holds_images(column) && !holds_texts(column) && !column.date;
}

std::string target_of(const InitRequest& request, const TableProfile& profile) {
  const auto target = choose_target(request, profile.names(), [&](const std::string& name) {
    return may_be_target(profile, profile.column(name));
  });
  if (target.empty()) refuse_without_target(profile);
  return target;
}

/// Puts a column where it belongs: what a network learns from, or why it does not.
void assign(const TableProfile& profile, const ColumnProfile& column, TablePlan& plan) {
  auto& options = plan.options;
  if (says_split(column))
    plan.split = column.name;
  else if (column.distinct < 2)
    plan.empty.push_back(column.name);
  else if (holds_images(column))
    plan.images.push_back(column.name);
  else if (column.date)
    options.dates.push_back(
        {column.name, column.date->empty() ? Auto<std::string>{} : Auto<std::string>{*column.date},
         column.time});
  else if (holds_texts(column))
    plan.texts.push_back(column.name);
  else if (is_identifier(profile, column))
    plan.identifiers.push_back(column.name);
  else
    (column.numbers() ? options.continuous : options.categories).value->push_back(column.name);
}

TablePlan plan_table(const InitRequest& request, const TableProfile& profile) {
  TablePlan plan;
  const auto target = target_of(request, profile);
  plan.target = &profile.column(target);
  plan.classification = holds_classes(*plan.target);
  const bool gaps = plan.target->missing > 0 && !plan.classification;
  if (!gaps) require_targets(profile, *plan.target);
  auto& options = plan.options;
  options.file = profile.path;
  options.categories.value.emplace();
  options.continuous.value.emplace();
  if (gaps)
    options.target.columns = {target};
  else
    options.target.column = target;
  options.task = plan.classification ? TableTask::classification : TableTask::regression;
  for (const auto& column : profile.columns)
    if (column.name != target) assign(profile, column, plan);
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
  return fmt::format("{{fraction: 0.2, seed: {}}}     # 20 % of the rows, always the same\n",
                     plan.options.valid.seed);
}

std::string target_lines(const TablePlan& plan) {
  const auto name = yaml_text(plan.target->name);
  if (plan.classification) return "  target: " + name + "\n  task: classification\n";
  return "  target: " + (plan.options.target.listed() ? "[" + name + "]" : name) +
         "\n  task: regression\n";
}

std::string date_lines(const TablePlan& plan) {
  std::vector<std::string> dates;
  for (const auto& date : plan.options.dates) {
    const auto format = date.format.automatic() ? "" : ", format: " + yaml_text(*date.format.value);
    const bool bare = format.empty() && !date.time;
    dates.push_back(bare ? yaml_text(date.column)
                         : "{column: " + yaml_text(date.column) + format +
                               (date.time ? ", time: true}" : "}"));
  }
  return dates.empty() ? "" : "  dates: [" + join(dates, ", ") + "]\n";
}

std::string table_recipe(const InitRequest& request, const TableFile& file,
                         const TableProfile& profile, const TablePlan& plan, const Table& table) {
  const auto data = fmt::format(
      "  type: {}\n  file: {}\n{}{}{}  categories: {}\n  continuous: {}\n{}  valid: {}",
      file.dataset, yaml_text(request.written), csv_lines(profile.csv),
      missing_lines(profile.missing), target_lines(plan), yaml_list(*plan.options.categories.value),
      yaml_list(*plan.options.continuous.value), date_lines(plan), valid_of_table(plan));
  return training_lines(table, data);
}

void add_left_out(const TableProfile& profile, const TablePlan& plan,
                  std::vector<std::string>& found) {
  if (!plan.identifiers.empty())
    found.push_back("left out, since they only tell rows apart: " + join(plan.identifiers, ", "));
  if (!plan.empty.empty())
    found.push_back("left out, since all rows are the same: " + join(plan.empty, ", "));
  if (!plan.texts.empty())
    found.push_back("left out, since they are free text: " + join(plan.texts, ", ") + "; --text " +
                    plan.texts[0] + " learns from it alone");
  if (!plan.images.empty())
    found.push_back("left out, since they name images: " + join(plan.images, ", "));
  if (!profile.unreadable.empty())
    found.push_back("left out, since they hold neither numbers nor text: " +
                    join(profile.unreadable, ", "));
}

void add_strays(const TableProfile& profile, std::vector<std::string>& found) {
  constexpr std::ptrdiff_t most = 5;
  const auto strays = std::ssize(profile.strays);
  for (const auto& stray : profile.strays | std::views::take(most)) found.push_back(stray);
  if (strays > most) found.push_back("and " + counted(strays - most, "such cell") + " more");
}

/// "3 columns of names, 2 columns of numbers, 1 column of dates".
std::string columns_in_words(const TableOptions& options) {
  auto text = counted(std::ssize(*options.categories.value), "column") + " of names, " +
              counted(std::ssize(*options.continuous.value), "column") + " of numbers";
  if (!options.dates.empty())
    text += ", " + counted(std::ssize(options.dates), "column") + " of dates";
  return text;
}

std::vector<std::string> found_in_table(const InitRequest& request, const TableProfile& profile,
                                        const TablePlan& plan) {
  const auto& target = *plan.target;
  auto found = plan.classification
                   ? found_classes(classes_in(target, profile.rows), "row")
                   : std::vector<std::string>{numbers_in_words(profile, target, "row")};
  found.push_back(found_target(request, target.name));
  if (target.missing > 0)
    found.push_back(counted(target.missing, "row") + " without a '" + target.name +
                    "', which count in no loss and no metric");
  if (const auto csv = csv_in_words(profile.csv); !csv.empty()) found.push_back("CSV: " + csv);
  add_strays(profile, found);
  if (!profile.missing.empty())
    found.push_back("missing values are written " + one_of(profile.missing) + " too");
  found.push_back(columns_in_words(plan.options));
  for (const auto& date : plan.options.dates)
    if (!date.format.automatic())
      found.push_back("dates in '" + date.column + "' are read as " + *date.format.value);
  add_left_out(profile, plan, found);
  found.push_back(found_split(plan.split.empty() ? "" : "column '" + plan.split + "'"));
  return found;
}

/// The user may name a column that no network can be trained on.
void require_readable(const InitRequest& request, const TableProfile& profile) {
  const auto& none = profile.unreadable;
  if (std::find(none.begin(), none.end(), request.target) != none.end())
    throw Error(Exit::data,
                "{}: column '{}' holds neither numbers nor text; name another one with --target",
                profile.path, request.target);
}

Draft draft_rows(const InitRequest& request, const TableFile& file, const TableProfile& profile) {
  require_readable(request, profile);
  if (auto ratings = draft_ratings(request, profile)) return *ratings;
  auto plan = plan_table(request, profile);
  const auto& options = plan.options;
  if (options.categories.value->empty() && options.continuous.value->empty() &&
      options.dates.empty())
    throw Error(Exit::data, "{}: no column is left to predict '{}' from", profile.path,
                plan.target->name);
  plan.options.missing = file.missing;
  const auto table = try_splits(file.source, plan);
  constexpr std::int64_t large = 1'000'000;
  return {found_in_table(request, profile, plan), table_recipe(request, file, profile, plan, table),
          "", "", profile.rows < large};
}

/// The column of texts that the user names, or the longest texts; null where no column has any.
const ColumnProfile* named_or_longest(const InitRequest& request, const TableProfile& profile) {
  const ColumnProfile* longest = nullptr;
  for (const auto& column : profile.columns) {
    if (!request.text.empty() && column.name == request.text) {
      if (!column.numbers()) return &column;
      throw Error(Exit::recipe, "--text: column '{}' holds numbers", column.name);
    }
    const bool other = column.name != request.target && holds_texts(column);
    if (other && (!longest || column.letters > longest->letters)) longest = &column;
  }
  if (!request.text.empty())
    throw Error(Exit::recipe, "--text: there is no column '{}'{}", request.text,
                did_you_mean(nearest(request.text, profile.names()),
                             "; there are " + join(profile.names(), ", ")));
  return longest;
}

/// The column of texts to continue: where the user says so, or no column may be their label; else
/// null.
const ColumnProfile* column_to_continue(const InitRequest& request, const TableProfile& profile) {
  if (request.table || !request.target.empty()) return nullptr;
  const auto may_label = [&](const std::string& name) {
    return name != request.text && may_be_target(profile, profile.column(name));
  };
  if (!request.language && !choose_target(request, profile.names(), may_label).empty())
    return nullptr;
  if (const auto* texts = named_or_longest(request, profile)) return texts;
  const auto& columns = profile.columns;
  if (columns.size() == 1 && !columns[0].numbers()) return &columns[0];
  if (!request.language) return nullptr;
  throw Error(Exit::data, "{}: no column looks like texts; name one with --text: {}", profile.path,
              join(profile.names(), ", "));
}

/// The column of texts to learn classes or numbers from; null where the file is a table.
const ColumnProfile* column_of_texts(const InitRequest& request, const TableProfile& profile) {
  if (request.table) return nullptr;
  const auto* longest = named_or_longest(request, profile);
  if (!longest || !request.text.empty()) return longest;
  const auto target = target_of(request, profile);
  const auto others = std::count_if(
      profile.columns.begin(), profile.columns.end(), [&](const ColumnProfile& column) {
        return column.name != target &&
               (may_be_target(profile, column) || (column.date && column.distinct > 1));
      });
  const bool classes = holds_classes(profile.column(target));
  return others >= (classes ? 2 : 1) ? nullptr : longest;
}

}  // namespace

void require_targets(const TableProfile& profile, const ColumnProfile& target) {
  if (target.missing > 0)
    throw Error(Exit::data,
                "{}: {} of {} without a '{}', which is to be predicted; take them out, or name "
                "another column with --target",
                profile.path, counted(target.missing, "row"), with_commas(profile.rows),
                target.name);
}

std::vector<ClassCount> classes_in(const ColumnProfile& target, std::int64_t rows) {
  std::map<std::string, std::int64_t> counts;
  for (std::int64_t row = 0; row < rows; ++row)
    ++counts[target.value(static_cast<std::size_t>(row))];
  std::vector<ClassCount> classes;
  for (const auto& [name, count] : counts) classes.push_back({name, count, 0});
  return classes;
}

std::string numbers_in_words(const TableProfile& profile, const ColumnProfile& target,
                             std::string_view noun) {
  double low = INFINITY, high = -INFINITY;
  for (const double value : target.cells.numbers)
    if (!std::isnan(value)) low = std::min(low, value), high = std::max(high, value);
  return counted(profile.rows, noun) + " with a number each, " + short_number(low) + " to " +
         short_number(high);
}

std::string found_target(const InitRequest& request, const std::string& target) {
  return "target: column '" + target + "'" +
         (request.target.empty() ? "; --target COLUMN takes another" : "");
}

void refuse_without_target(const TableProfile& profile) {
  throw Error(Exit::data, "{}: no column looks like a target; name one with --target: {}",
              profile.path, join(profile.names(), ", "));
}

Draft draft_csv(const InitRequest& request) {
  std::unique_ptr<CsvSource> csv;
  const auto profile = profile_of_csv(request.path, csv);
  const auto& columns = profile.columns;
  const auto images = std::find_if(columns.begin(), columns.end(), holds_images);
  const bool reads_images = !request.table && !request.language && request.text.empty();
  if (images != columns.end() && reads_images)
    return lists_points(profile) && request.target.empty()
               ? draft_points(request, profile, *images)
               : draft_image_rows(request, profile, *images);
  if (const auto* texts = column_to_continue(request, profile))
    return draft_language_rows(request, profile, *texts);
  if (const auto* texts = column_of_texts(request, profile))
    return draft_text_rows(request, profile, *texts);
  Auto<std::vector<std::string>> missing;
  if (!profile.missing.empty()) missing = missing_spellings(profile.missing);
  return draft_rows(request, {*csv, "csv_table", missing}, profile);
}

Draft draft_parquet(const InitRequest& request) {
  if (!request.text.empty() || request.language)
    throw Error(Exit::recipe, "{}: texts are read from CSV files and lines of JSON",
                request.language ? "--task" : "--text");
  const ParquetSource parquet(request.path);
  const std::vector<std::string> only_nulls;
  return draft_rows(request, {parquet, "parquet_table", {only_nulls}},
                    profile_of(parquet, only_nulls));
}

}  // namespace ddptrain
