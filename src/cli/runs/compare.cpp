// `compare RUN RUN...`: runs next to each other: recipes and metrics.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "cli/runs/run_row.h"
#include "cli/spreadsheet.h"
#include "cli/verb.h"
#include "recipe/run_folders.h"
#include "runs/run_list.h"
#include "runs/run_scores.h"
#include "runs/seed_groups.h"

namespace ddptrain {
namespace {

using Cells = std::vector<std::vector<std::string>>;

constexpr std::size_t kWidestValue = 40;  // columns
constexpr Flag kCompareFormat{"--format", "text|json|csv", "how the comparison is written"};

/// Names of metrics in the order in which they are first seen.
std::vector<std::string> metrics_of(const RunRows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows)
    for (const auto& metric : row.record.scores.values)
      if (std::find(names.begin(), names.end(), metric.first) == names.end())
        names.push_back(metric.first);
  return names;
}

std::vector<RunOptions> options_of(const RunRows& rows) {
  std::vector<RunOptions> options;
  for (const auto& row : rows) options.push_back(row.record.options);
  return options;
}

/// A line of the comparison: a title, and a value of each run.
template <class ValueOf>
std::vector<std::string> line_of(const std::string& title, const RunRows& rows, ValueOf value_of) {
  std::vector<std::string> line{one_line(title, kWidestValue)};
  for (const auto& row : rows) line.push_back(one_line(value_of(row), kWidestValue));
  return line;
}

Cells summary_of(const RunRows& rows) {
  Cells lines{line_of("", rows, [](const RunRow& row) { return row.record.name; })};
  for (const auto* column : {"state", "step", "time"})
    lines.push_back(
        line_of(column, rows, [&](const RunRow& row) { return cell_of(row, column).text; }));
  lines.push_back(line_of("weights", rows,
                          [](const RunRow& row) { return to_text(row.record.scores.weights); }));
  for (const auto& metric : metrics_of(rows))
    lines.push_back(line_of(metric, rows, [&](const RunRow& row) {
      return short_number(value_named(row.record.scores.values, metric));
    }));
  const auto is_of_others = [](const RunRow& row) {
    return row.record.best && !row.record.scores.weights.name.starts_with("best");
  };
  if (std::any_of(rows.begin(), rows.end(), is_of_others)) {
    lines.push_back(line_of("best evaluation (step)", rows,
                            [](const RunRow& row) { return cell_of(row, "best").text; }));
    lines.push_back(line_of("  by", rows, [](const RunRow& row) { return metric_of(row); }));
  }
  return lines;
}

Cells differences_of(const RunRows& rows) {
  Cells lines{line_of("", rows, [](const RunRow& row) { return row.record.name; })};
  for (const auto& key : differing_options(options_of(rows)))
    lines.push_back(line_of(key, rows, [&](const RunRow& row) {
      const auto value = option_value(row.record.options, key);
      return value.empty() ? "-" : value;
    }));
  return lines;
}

Cells transposed(const Cells& lines) {
  Cells columns(lines[0].size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) columns[i].push_back(line[i]);
  return columns;
}

/// A column for each run where that fits the terminal, else a line, or a block.
void print_compared(const Cells& lines) {
  const auto width = terminal_columns(STDOUT_FILENO);
  auto text = aligned(lines);
  if (!all_fit(text, width)) text = table_lines(transposed(lines), width);
  print_lines(join(text, "\n") + "\n");
}

std::string means_of(const RunRows& rows, const SeedGroup& group) {
  std::string text;
  for (const auto& metric : metrics_of(rows)) {
    std::vector<double> values;
    for (const auto i : group.runs)
      values.push_back(value_named(rows[i].record.scores.values, metric));
    text += fmt::format("  {} {}\n", metric, mean_text(values));
  }
  return text;
}

/// Of runs that differ in their seeds alone; where one seed is left, why there is no mean.
void print_means(const RunRows& rows) {
  const auto width = terminal_columns(STDOUT_FILENO);
  std::vector<const RunRecord*> records;
  for (const auto& row : rows) records.push_back(&row.record);
  for (const auto& group : seed_groups(records)) {
    std::vector<std::string> names;
    for (const auto i : group.runs) names.push_back(rows[i].record.name);
    const bool several = group.seeds.size() > 1;
    auto title = several ? fmt::format("mean ± deviation over the seeds {} of {}",
                                       join(group.seeds, ", "), join(names, ", "))
                 : group.seeds.empty()
                     ? std::string("no mean over seeds: no run trained to its end")
                     : fmt::format("no mean over seeds: seed {} alone trained to its end, {}",
                                   group.seeds[0], names[0]);
    title += left_out_text(group, records);
    print_lines(fmt::format("\n{}\n{}", broken_at_blanks(title, width),
                            several ? broken_at_blanks(means_of(rows, group), width) : ""));
  }
}

void print_comparison(const RunRows& rows) {
  print_compared(summary_of(rows));
  print_lines(broken_at_blanks(kScoresRule, terminal_columns(STDOUT_FILENO)) + "\n");
  const auto differences = differences_of(rows);
  if (differences.size() == 1) {
    print_lines("\nThe recipes are the same.\n");
  } else {
    print_lines("\nWhat differs in the recipes:\n");
    print_compared(differences);
  }
  print_means(rows);
}

std::vector<std::string> csv_columns(const RunRows& rows) {
  std::vector<std::string> columns{"run", "state", "step", "time", "weights"};
  for (auto& metric : metrics_of(rows)) columns.push_back(std::move(metric));
  for (auto& key : differing_options(options_of(rows))) columns.push_back(std::move(key));
  return columns;
}

void print_comparison_json(const RunRows& rows) {
  Json json{{"runs", Json::array()}, {"differences", Json::object()}};
  for (const auto& row : rows) {
    Json metrics = Json::object();
    for (const auto& [name, value] : row.record.scores.values) metrics[name] = value;
    const auto& weights = row.record.scores.weights;
    json["runs"].push_back({{"run", row.record.folder},
                            {"state", status_name(row.record.status)},
                            {"step", static_cast<std::int64_t>(row.record.progress.step)},
                            {"weights", weights.name},
                            {"weights_step", weights.step < 0 ? Json() : Json(weights.step)},
                            {"metrics", metrics}});
  }
  for (const auto& key : differing_options(options_of(rows))) {
    auto& values = json["differences"][key] = Json::array();
    for (const auto& row : rows) values.push_back(option_value(row.record.options, key));
  }
  print_exact(lossy_json_text(json, 2) + "\n");
}

/// Recipes have a verb of their own, and people take this one for it.
void refuse_recipes(const std::vector<std::string>& words) {
  for (const auto& word : words)
    if (std::filesystem::is_regular_file(word))
      throw Error(Exit::recipe,
                  "'{}' is a file; compare takes run folders, and 'ddptrain diff A B' says how two "
                  "recipes differ",
                  word);
}

void refuse_empty(const std::vector<std::string>& words) {
  for (const auto& word : words)
    if (std::filesystem::is_directory(word) && find_runs(word).empty()) throw no_run_folder(word);
}

int compare(const Arguments& arguments) {
  refuse_recipes(arguments.words);
  refuse_empty(arguments.words);
  const auto rows = read_rows(arguments.words, true);
  if (rows.size() < 2)
    throw Error(Exit::recipe,
                rows.empty() ? fmt::format("there is no run in '{}'", join(arguments.words, "', '"))
                             : "a comparison needs two runs or more; this is '" +
                                   rows[0].record.folder + "' alone");
  const auto format = arguments.chosen(kCompareFormat);
  const auto reader = reader_of(arguments, format == 2);
  if (format == 0) print_comparison(rows);
  if (format == 1) print_comparison_json(rows);
  if (format == 2) print_csv(rows, csv_columns(rows), reader);
  return 0;
}

}  // namespace

Verb compare_verb() {
  return {.name = "compare",
          .usage = "RUN_FOLDER...",
          .summary = "runs next to each other: metrics, and what differs in their recipes",
          .flags = {kCompareFormat, kSpreadsheet},
          .min_words = 1,
          .run = compare};
}

}  // namespace ddptrain
