// `runs [FOLDER...]`: the runs of a folder, a line each.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "cli/verb.h"
#include "config/suggest.h"
#include "jobs/runs/run_condition.h"
#include "jobs/runs/run_row.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostDifferences = 4;
constexpr std::size_t kWidest = 60;  // columns of a cell on a terminal

constexpr Flag kSort{"--sort", "COLUMN", "a column, metric or option; the best or least first"};
constexpr Flag kReverse{"--reverse", "", "the last one first"};
constexpr Flag kWhere{"--where", "CONDITION",
                      "only runs for which it holds: 'state=done,optimizer.lr>=1e-3'"};
constexpr Flag kColumns{"--columns", "COLUMN,...",
                        "instead of run, state, step, last, best, time, differs: also started, "
                        "ended, recipe, device, ranks, host, exit_code, a metric or an option"};
constexpr Flag kTrials{"--trials", "", "the runs of sweeps too, one by one"};
constexpr Flag kRunsFormat{"--format", "text|json|csv", "how the list is written"};

/// A metric or an option that some run has.
void require_column(const RunRows& rows, const std::string& flag, const std::string& column) {
  std::vector<std::string> known = column_names();
  for (const auto& row : rows) {
    for (const auto& metric : row.record.metrics) known.push_back(metric.first);
    for (const auto& section : row.options)
      for (const auto& option : *section) known.push_back(option.first);
  }
  if (std::find(known.begin(), known.end(), column) != known.end()) return;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  throw Error(Exit::recipe, flag + ": no run has a column, metric or option '" + column + "'" +
                                did_you_mean(nearest_names(column, known),
                                             "; columns are " + join(column_names(), ", ")));
}

void keep_where(RunRows& rows, const std::string& text) {
  for (const auto& condition : read_conditions(text)) {
    require_column(rows, "--where", condition.column);
    std::erase_if(rows, [&](const RunRow& row) {
      auto cell = cell_of(row, condition.column);
      if (condition.column == "state") cell.text = status_name(row.record.status);
      return !holds(condition, cell);
    });
  }
}

/// Of a metric the larger one first, where a run says that larger is better.
bool is_larger_first(const RunRows& rows, const std::string& column) {
  return std::any_of(rows.begin(), rows.end(), [&](const RunRow& row) {
    const auto& best = row.record.best;
    return best && best->mode == BestMode::max &&
           (best->metric == column || column == "last" || column == "best");
  });
}

void sort_by(RunRows& rows, const std::string& column) {
  require_column(rows, "--sort", column);
  const bool larger = is_larger_first(rows, column);
  std::stable_sort(rows.begin(), rows.end(), [&](const RunRow& a, const RunRow& b) {
    const auto one = cell_of(a, column), other = cell_of(b, column);
    if (one.text.empty() || other.text.empty()) return !one.text.empty() && other.text.empty();
    if (one.number.has_value() != other.number.has_value()) return one.number.has_value();
    if (!one.number) return one.text < other.text;
    return larger ? *one.number > *other.number : *one.number < *other.number;
  });
}

/// One metric is the head of its column; of several each row names its own.
std::vector<std::string> usual_columns(const RunRows& rows) {
  std::vector<std::string> metrics;
  for (const auto& row : rows)
    if (const auto metric = metric_of(row);
        !metric.empty() && std::find(metrics.begin(), metrics.end(), metric) == metrics.end())
      metrics.push_back(metric);
  if (metrics.size() == 1) return {"run", "state", "step", metrics[0], "best", "time", "differs"};
  return {"run", "state", "step", "metric", "last", "best", "time", "differs"};
}

std::vector<std::string> columns_of(const RunRows& rows, const Arguments& arguments) {
  if (!arguments.has(kColumns.name)) return usual_columns(rows);
  auto columns = split(arguments.value(kColumns.name), ',');
  for (const auto& column : columns) require_column(rows, "--columns", column);
  return columns;
}

/// The column `differs`, which may be long, comes last and is cut where the terminal ends.
void print_list(const RunRows& rows, const std::vector<std::string>& columns) {
  const auto width = terminal_columns(STDOUT_FILENO);
  const bool tail = !columns.empty() && columns.back() == "differs";
  std::vector<std::vector<std::string>> cells{{columns.begin(), columns.end() - (tail ? 1 : 0)}};
  for (const auto& row : rows) {
    cells.emplace_back();
    for (std::size_t i = 0; i < cells[0].size(); ++i)
      cells.back().push_back(one_line(cell_of(row, columns[i]).text, kWidest));
  }
  auto lines = aligned(cells);
  std::size_t widest = 0;
  for (const auto& line : lines) widest = std::max(widest, display_width(line));
  for (std::size_t i = 0; tail && i < lines.size(); ++i) {
    const auto text = i == 0 ? "differs" : cell_of(rows[i - 1], "differs").text;
    if (!text.empty())
      lines[i] += std::string(widest - display_width(lines[i]) + 2, ' ') + shown(text);
  }
  for (auto& line : lines) line = width > 0 ? one_line(line, width) : line;
  print_lines(join(lines, "\n") + "\n");
}

/// Mean and deviation of what was repeated with other seeds.
void print_repeated(const RunRows& rows) {
  std::vector<RunOptions> options;
  for (const auto& row : rows) options.push_back(row.options);
  std::vector<std::string> lines;
  for (const auto& group : groups_by_seed(options)) {
    const auto metric = metric_of(rows[group[0]]);
    std::vector<double> values;
    std::string names;
    for (const auto i : group) {
      const auto value = value_named(rows[i].record.metrics, metric);
      if (std::isnan(value) || rows[i].options.empty()) continue;
      values.push_back(value);
      names += (names.empty() ? "" : ", ") + rows[i].record.name;
    }
    if (values.size() < 2) continue;
    lines.push_back(metric + " " + mean_text(values) + " over " + std::to_string(values.size()) +
                    " seeds: " + names);
  }
  if (lines.empty()) return;
  const auto width = terminal_columns(STDOUT_FILENO);
  for (auto& line : lines) line = one_line(line, width > 0 ? width : kLongestShown);
  print_lines("\n" + join(lines, "\n") + "\n");
}

Json to_json(const NamedValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

Json known(double value) { return value > 0 ? Json(static_cast<std::int64_t>(value)) : Json(); }

Json to_json(const RunRow& row) {
  const auto& record = row.record;
  if (!row.trials.empty()) {
    Json trials = Json::array();
    for (const auto& trial : row.trials) trials.push_back(to_json(trial));
    return {{"sweep", row.path}, {"recipe", record.recipe}, {"runs", trials}};
  }
  Json json{{"run", row.path},
            {"recipe", record.recipe},
            {"state", status_name(record.status)},
            {"result", record.result},
            {"exit_code", record.exit_code ? Json(*record.exit_code) : Json()},
            {"step", known(row.progress.step)},
            {"total_steps", known(row.progress.total_steps)},
            {"seconds_left", known(row.progress.seconds_left)},
            {"seconds", nullptr},
            {"metrics", to_json(record.metrics)},
            {"best", nullptr},
            {"differs", Json::object()}};
  if (const auto time = cell_of(row, "time"); time.number) json["seconds"] = *time.number;
  if (record.best)
    json["best"] = {{"metric", record.best->metric},
                    {"step", record.best->step},
                    {"metrics", to_json(record.best->values)}};
  for (const auto& [key, value] : row.differences) json["differs"][key] = value;
  return json;
}

void print_list_json(const RunRows& rows, const std::vector<std::string>& columns, bool chosen) {
  Json all = Json::array();
  for (const auto& row : rows) {
    if (!chosen) {
      all.push_back(to_json(row));
      continue;
    }
    Json json = Json::object();
    for (const auto& column : columns) {
      const auto cell = cell_of(row, column);
      json[column] = cell.number         ? Json(*cell.number)
                     : cell.text.empty() ? Json()
                                         : Json(cell.text);
    }
    all.push_back(std::move(json));
  }
  print_exact(all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void print(const RunRows& rows, const Arguments& arguments) {
  const auto columns = columns_of(rows, arguments);
  const auto format = arguments.chosen(kRunsFormat);
  if (format == 1) return print_list_json(rows, columns, arguments.has(kColumns.name));
  if (format == 2) return print_csv(rows, columns);
  if (rows.empty()) return print_lines("no runs\n");
  print_list(rows, columns);
  if (!arguments.has(kColumns.name)) print_repeated(rows);
}

int runs(const Arguments& arguments) {
  auto roots = arguments.words;
  if (roots.empty()) roots.emplace_back("runs");
  auto rows = read_rows(roots, arguments.has(kTrials.name));
  if (arguments.has(kWhere.name)) keep_where(rows, arguments.value(kWhere.name));
  add_differences(rows, kMostDifferences);
  if (arguments.has(kSort.name)) sort_by(rows, arguments.value(kSort.name));
  if (arguments.has(kReverse.name)) std::reverse(rows.begin(), rows.end());
  print(rows, arguments);
  return 0;
}

}  // namespace

Verb runs_verb() {
  return {.name = "runs",
          .usage = "[FOLDER...]",
          .summary = "the runs in a folder (runs), a line each: state, metrics, what differs",
          .flags = {kSort, kReverse, kWhere, kColumns, kTrials, kRunsFormat},
          .run = runs};
}

}  // namespace ddptrain
