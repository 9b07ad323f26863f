// `init` from a CSV file that lists images or texts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "jobs/draft/csv_sniff.h"
#include "jobs/draft/draft_language.h"
#include "jobs/draft/draft_rows.h"
#include "jobs/draft/table_profile.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::int64_t rows_for_training(std::int64_t rows) {
  return rows - std::llround(kHeldOut * static_cast<double>(rows));
}

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

std::string required_target(const InitRequest& request, const TableProfile& profile,
                            const std::function<bool(const std::string&)>& may_be) {
  const auto label = choose_target(request, profile.names(), may_be);
  if (label.empty()) refuse_without_target(profile);
  return label;
}

/// A path as the written recipe finds it.
std::string from_recipe(const InitRequest& request, const fs::path& path) {
  return (fs::path(request.written).parent_path() / path).string();
}

bool may_label_images(const TableProfile& profile, const ColumnProfile& column) {
  return column.distinct > 1 && !says_split(column) && !is_identifier(profile, column);
}

bool may_label_texts(const TableProfile& profile, const ColumnProfile& column) {
  return column.distinct > 1 && holds_classes(column) && !holds_texts(column) &&
         !is_identifier(profile, column) && !says_split(column) && !column.date;
}

std::vector<std::string> sampled_images(const TableProfile& profile, const ColumnProfile& paths,
                                        const fs::path& root) {
  std::vector<std::string> sample;
  const auto step = std::max<std::size_t>(1, paths.cells.names.size() / 200);
  for (std::size_t i = 0; i < paths.cells.names.size(); i += step)
    sample.push_back(
        (fs::absolute(profile.path).parent_path() / root / paths.cells.names[i]).string());
  return sample;
}

std::vector<std::string> other_columns(const TableProfile& profile, const std::string& texts,
                                       const std::string& label) {
  std::vector<std::string> others;
  for (const auto& column : profile.columns)
    if (column.name != texts && column.name != label) others.push_back(column.name);
  return others;
}

}  // namespace

Draft draft_image_rows(const InitRequest& request, const TableProfile& profile,
                       const ColumnProfile& paths) {
  const auto may_be = [&](const std::string& name) {
    return name != paths.name && may_label_images(profile, profile.column(name));
  };
  const auto label = required_target(request, profile, may_be);
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
  draft.found.push_back(found_split(has_split ? fmt::format("column '{}'", split->name) : ""));
  std::string data = fmt::format("  type: manifest\n  file: {}\n{}", yaml_text(request.written),
                                 csv_lines(profile.csv));
  if (!root.empty()) data += fmt::format("  root: {}\n", yaml_text(from_recipe(request, root)));
  data += fmt::format("  columns: {{path: {}, label: {}{}}}\n", yaml_text(paths.name),
                      yaml_text(label), has_split ? ", split: " + yaml_text(split->name) : "");
  if (!delimiter.empty()) data += fmt::format("  label_delimiter: \"{}\"\n", delimiter);
  if (!has_split)
    data += "  valid: {fraction: 0.2, seed: 42}     # 20 % of the images, always the same\n";
  const auto sample = sampled_images(profile, paths, root);
  draft.recipe = image_recipe(data, {classes, rows_for_training(profile.rows), !delimiter.empty()},
                              sample, draft.found);
  return draft;
}

Draft draft_text_rows(const InitRequest& request, const TableProfile& profile,
                      const ColumnProfile& texts) {
  const auto may_be = [&](const std::string& name) {
    return name != texts.name && may_label_texts(profile, profile.column(name));
  };
  const auto label = required_target(request, profile, may_be);
  const auto& target = profile.column(label);
  require_targets(profile, target);
  const bool regression = !holds_classes(target);
  const auto classes = regression ? std::vector<ClassCount>{} : classes_in(target, profile.rows);
  Draft draft;
  draft.found = regression ? std::vector<std::string>{numbers_in_words(profile, target, "text")}
                           : found_classes(classes, "text");
  draft.found.push_back(fmt::format("texts: column '{}'", texts.name));
  draft.found.push_back(found_target(request, label));
  draft.found.push_back(kLearnsToContinue);
  if (const auto csv = csv_in_words(profile.csv); !csv.empty())
    draft.found.push_back("CSV: " + csv);
  const auto others = other_columns(profile, texts.name, label);
  if (!others.empty())
    draft.found.push_back(fmt::format("left out: {}; --table learns from them instead of the texts",
                                      join(others, ", ")));
  draft.found.push_back(found_split(""));
  const auto data = fmt::format(
      "  type: text_csv\n"
      "  file: {}\n"
      "{}  text: [{}]\n"
      "  label: {}{}\n"
      "  valid: {{fraction: 0.2, seed: 42}}     # 20 % of the rows, always the same\n",
      yaml_text(request.written), csv_lines(profile.csv), yaml_text(texts.name), yaml_text(label),
      regression ? "\n  task: regression" : "");
  draft.recipe = text_recipe(data, classes, rows_for_training(profile.rows));
  return draft;
}

}  // namespace ddptrain
