// `runs [FOLDER...]`: the runs of a folder, a line each.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "cli/runs/run_condition.h"
#include "cli/runs/run_row.h"
#include "cli/spreadsheet.h"
#include "cli/verb.h"
#include "config/suggest.h"
#include "runs/run_scores.h"
#include "runs/seed_groups.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostDifferences = 4;
constexpr std::size_t kWidest = 60;  // columns of a cell on a terminal

constexpr Flag kSort{"--sort", "COLUMN", "a column, metric or option; the best or least first"};
constexpr Flag kReverse{"--reverse", "", "the last one first"};
constexpr Flag kWhere{"--where", "CONDITION",
                      "only runs for which it holds: 'state=done,optimizer.lr>=1e-3'"};
constexpr Flag kShownColumns{
    "--columns", "COLUMN,...",
    "instead of run, state, step, value, weights, time, differs: also last, best, metric, started, "
    "ended, recipe, device, ranks, host, exit_code, a metric or an option"};
constexpr Flag kTrials{"--trials", "", "the runs of sweeps too, one by one"};
constexpr Flag kRunsFormat{"--format", "text|json|csv", "how the list is written"};

/// A metric or an option that some run has.
void require_column(const RunRows& rows, const std::string& flag, const std::string& column) {
  std::vector<std::string> known = column_names();
  for (const auto& row : rows) {
    for (const auto& metric : row.record.metrics) known.push_back(metric.first);
    for (const auto& section : row.record.options)
      for (const auto& option : *section) known.push_back(option.first);
  }
  if (std::find(known.begin(), known.end(), column) != known.end()) return;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  throw Error(
      Exit::recipe, "{}: no run has a column, metric or option '{}'{}", flag, column,
      did_you_mean(nearest_names(column, known), "; columns are " + join(column_names(), ", ")));
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

/// Of a metric the larger one first, where a run or a sweep says that larger is better.
bool is_larger_first(const RunRows& rows, const std::string& column) {
  const bool of_metric = column == "value" || column == "last" || column == "best";
  return std::any_of(rows.begin(), rows.end(), [&](const RunRow& row) {
    const auto& best = row.record.best;
    const bool larger =
        row.sweep ? row.sweep->mode == BestMode::max : best && best->mode == BestMode::max;
    return larger && (of_metric || metric_of(row) == column);
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
  if (metrics.size() == 1)
    return {"run", "state", "step", metrics[0], "weights", "time", "differs"};
  return {"run", "state", "step", "metric", "value", "weights", "time", "differs"};
}

std::vector<std::string> columns_of(const RunRows& rows, const Arguments& arguments) {
  if (!arguments.has(kShownColumns.name)) return usual_columns(rows);
  auto columns = split(arguments.value(kShownColumns.name), ',');
  for (const auto& column : columns) require_column(rows, "--columns", column);
  return columns;
}

/// Of the columns that are there, those that a narrow terminal leaves out, the first one first.
constexpr const char* kLeftOutFirst[] = {"time", "step", "state", "weights"};

std::vector<std::vector<std::string>> cells_of(const RunRows& rows,
                                               const std::vector<std::string>& columns) {
  std::vector<std::vector<std::string>> cells{columns};
  for (const auto& row : rows) {
    cells.emplace_back();
    for (const auto& column : columns)
      cells.back().push_back(one_line(cell_of(row, column).text, kWidest));
  }
  return cells;
}

/// Leaves out columns until the lines fit; those left out.
std::vector<std::string> leave_out(const RunRows& rows, std::vector<std::string>& columns,
                                   std::size_t width) {
  std::vector<std::string> gone;
  for (const auto* name : kLeftOutFirst) {
    if (all_fit(aligned(cells_of(rows, columns)), width)) break;
    if (std::erase(columns, name) > 0) gone.emplace_back(name);
  }
  return gone;
}

/// At the end of each line what the terminal has room for.
void add_tail(std::vector<std::string>& lines, const RunRows& rows, std::size_t width) {
  std::size_t widest = 0;
  for (const auto& line : lines) widest = std::max(widest, display_width(line));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto text = i == 0 ? "differs" : cell_of(rows[i - 1], "differs").text;
    if (text.empty()) continue;
    lines[i] += std::string(widest - display_width(lines[i]) + 2, ' ') + shown(text);
    if (width > 0) lines[i] = one_line(lines[i], width);
  }
}

bool has_room_for_tail(const std::vector<std::string>& lines, std::size_t width) {
  constexpr std::size_t kLeast = 12;  // columns
  return width == 0 || (width > kLeast && all_fit(lines, width - kLeast));
}

/// The column `differs`, which may be long, comes last and is cut where the terminal ends. Where
/// the terminal is narrow, columns are left out; where that does not do, each run is a block.
void print_list(const RunRows& rows, std::vector<std::string> columns) {
  const auto width = terminal_columns(STDOUT_FILENO);
  const auto all = columns;
  const bool tail = columns.size() > 1 && columns.back() == "differs";
  if (tail) columns.pop_back();
  auto gone = leave_out(rows, columns, width);
  auto lines = aligned(cells_of(rows, columns));
  if (!all_fit(lines, width))
    return print_lines(join(table_lines(cells_of(rows, all), width), "\n") + "\n");
  if (tail && has_room_for_tail(lines, width))
    add_tail(lines, rows, width);
  else if (tail)
    gone.emplace_back("differs");
  auto text = join(lines, "\n") + "\n";
  if (!gone.empty())
    text += broken_at_blanks("(left out for this width: " + join(gone, ", ") + ")", width) + "\n";
  print_lines(text);
}

/// Whose values they are, and which way a metric gets better.
void print_caption(const RunRows& rows, const std::vector<std::string>& columns) {
  std::string text = kScoresRule;
  if (std::none_of(rows.begin(), rows.end(),
                   [](const RunRow& row) { return cell_of(row, "value").number.has_value(); }))
    return;
  if (const auto& metric = columns.at(3); metric.find('/') != std::string::npos)
    text = fmt::format("{}{} is better. {}", metric,
                       is_larger_first(rows, metric) ? ": larger" : ": smaller", text);
  const auto sweeps = std::any_of(rows.begin(), rows.end(),
                                  [](const RunRow& row) { return row.sweep.has_value(); });
  if (sweeps) text += " Of a sweep: its best run's.";
  print_lines(fmt::format("\n{}\n", broken_at_blanks(text, terminal_columns(STDOUT_FILENO))));
}

/// Mean and deviation of what was repeated with other seeds.
void print_repeated(const RunRows& rows) {
  std::vector<const RunRecord*> records;
  for (const auto& row : rows) records.push_back(&row.record);
  std::vector<std::string> lines;
  for (const auto& group : seed_groups(records)) {
    if (group.seeds.size() < 2) continue;
    const auto metric = metric_of(rows[group.runs[0]]);
    std::vector<double> values;
    std::vector<std::string> names;
    for (const auto i : group.runs) {
      values.push_back(value_named(rows[i].record.scores.values, metric));
      names.push_back(rows[i].record.name);
    }
    lines.push_back(fmt::format("{} {} (mean ± standard deviation) over {} seeds: {}{}", metric,
                                mean_text(values), group.seeds.size(), join(names, ", "),
                                left_out_text(group, records)));
  }
  if (lines.empty()) return;
  const auto width = terminal_columns(STDOUT_FILENO);
  for (auto& line : lines) line = broken_at_blanks(line, width);
  print_lines(fmt::format("\n{}\n", join(lines, "\n")));
}

Json to_json(const NamedValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

Json known(double value) { return value > 0 ? Json(static_cast<std::int64_t>(value)) : Json(); }

Json to_json(const RunRow& row);

Json sweep_json(const RunRow& row) {
  Json trials = Json::array();
  for (const auto& trial : row.trials) trials.push_back(to_json(trial));
  Json json{{"sweep", row.record.folder},
            {"recipe", row.record.recipe},
            {"best", nullptr},
            {"runs", trials}};
  if (row.sweep && !row.sweep->trials.empty())
    json["best"] = {{"metric", row.sweep->metric},
                    {"trial", row.sweep->trials[0].number},
                    {"value", row.sweep->trials[0].value}};
  return json;
}

Json to_json(const RunRow& row) {
  if (!row.trials.empty()) return sweep_json(row);
  const auto& record = row.record;
  Json json{{"run", row.record.folder},
            {"recipe", record.recipe},
            {"state", status_name(record.status)},
            {"result", record.result},
            {"exit_code", record.exit_code ? Json(*record.exit_code) : Json()},
            {"step", known(row.record.progress.step)},
            {"total_steps", known(row.record.progress.total_steps)},
            {"seconds_left", known(row.record.progress.seconds_left)},
            {"seconds", nullptr},
            {"metrics", to_json(record.metrics)},
            {"scores", nullptr},
            {"best", nullptr},
            {"differs", Json::object()}};
  if (const auto time = cell_of(row, "time"); time.number) json["seconds"] = *time.number;
  if (const auto& [weights, values] = row.record.scores; !weights.name.empty())
    json["scores"] = {{"weights", weights.name},
                      {"step", weights.step < 0 ? Json() : Json(weights.step)},
                      {"metrics", to_json(values)}};
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
  print_exact(lossy_json_text(all, 2) + "\n");
}

void print(const RunRows& rows, const Arguments& arguments) {
  const auto columns = columns_of(rows, arguments);
  const auto format = arguments.chosen(kRunsFormat);
  const auto reader = reader_of(arguments, format == 2);
  if (format == 1) return print_list_json(rows, columns, arguments.has(kShownColumns.name));
  if (format == 2) return print_csv(rows, columns, reader);
  if (rows.empty()) return print_lines("no runs\n");
  print_list(rows, columns);
  if (arguments.has(kShownColumns.name)) return;
  print_caption(rows, columns);
  print_repeated(rows);
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
          .flags = {kSort, kReverse, kWhere, kShownColumns, kTrials, kRunsFormat, kSpreadsheet},
          .run = runs};
}

}  // namespace ddptrain
