#include "cli/runs/run_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <future>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/mean.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "runs/run_list.h"
#include "runs/run_scores.h"

namespace ddptrain {
namespace {

constexpr std::size_t kRunsOfThread = 50;  // at least

RunRow row_of(const std::string& path) {
  RunRow row;
  row.record.folder = path;
  return row;
}

RunRow sweep_row(const RunsFolder& sweep) {
  auto row = row_of(sweep.path);
  row.record.name = sweep.path;
  for (const auto& run : sweep.runs) row.trials.push_back(row_of(run));
  return row;
}

/// Nothing before its first run has ended, and where its table cannot be read.
std::optional<SweepResults> sweep_of(const std::string& folder) {
  try {
    return read_sweep_results(folder);
  } catch (const Error&) {
    return {};
  }
}

/// The rows of runs, those of sweeps among them.
std::vector<RunRow*> runs_in(RunRows& rows) {
  std::vector<RunRow*> runs;
  for (auto& row : rows) {
    if (row.trials.empty()) runs.push_back(&row);
    for (auto& trial : row.trials) runs.push_back(&trial);
  }
  return runs;
}

/// On several threads where there are many.
void read_records(const std::vector<RunRow*>& runs) {
  const std::size_t most = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  const auto parts = std::clamp<std::size_t>(runs.size() / kRunsOfThread, 1, most);
  const auto read_part = [&](std::size_t part) {
    for (auto i = part; i < runs.size(); i += parts)
      runs[i]->record = read_run(runs[i]->record.folder);
  };
  std::vector<std::future<void>> others;
  for (std::size_t part = 1; part < parts; ++part)
    others.push_back(std::async(std::launch::async, read_part, part));
  read_part(0);
  for (auto& other : others) other.get();
}

void read_runs(RunRows& rows) {
  const auto runs = runs_in(rows);
  read_records(runs);
  RecipeReader reader;  // of all: alike sections are shared
  for (auto* run : runs) add_recipe(run->record, reader);
  for (auto& row : rows)
    if (!row.trials.empty()) {
      row.record.recipe = row.trials[0].record.recipe;
      row.sweep = sweep_of(row.record.folder);
    }
}

RunCell number_cell(double value) {
  if (std::isnan(value)) return {};
  return {short_number(value), value};
}

/// "25 done, 2 failed".
std::string count_states(const RunRows& rows) {
  std::map<RunStatus, std::size_t> counts;
  for (const auto& row : rows) ++counts[row.record.status];
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts)
    parts.push_back(fmt::format("{} {}", count, status_name(status)));
  return join(parts, ", ");
}

RunCell state_cell(const RunRow& row) {
  if (!row.trials.empty())
    return {plural(std::ssize(row.trials), "run") + ": " + count_states(row.trials), {}};
  auto text = status_text(row.record);
  if (row.record.status == RunStatus::running && row.record.progress.seconds_left > 0)
    text += fmt::format(", {} left", format_seconds(row.record.progress.seconds_left));
  return {text, {}};
}

RunCell step_cell(const RunRow& row) {
  const auto& progress = row.record.progress;
  if (progress.total_steps <= 0 && progress.step <= 0) return {};
  auto text = format_fixed(progress.step, 0);
  const bool has_more = !is_finished(row.record) && progress.total_steps != progress.step;
  if (progress.total_steps > 0 && has_more) text += "/" + format_fixed(progress.total_steps, 0);
  return {text, progress.step};
}

/// The first of a sweep's table, which has the best first; null where none has a value.
const SweepTrialResult* winner(const RunRow& row) {
  if (!row.sweep || row.sweep->trials.empty()) return nullptr;
  const auto& first = row.sweep->trials[0];
  return std::isnan(first.value) ? nullptr : &first;
}

/// By the rule of runs/run_scores.h; of a sweep its winner's, as its table has it.
RunCell value_cell(const RunRow& row, const std::string& metric) {
  if (row.trials.empty()) return number_cell(value_named(row.record.scores.values, metric));
  const auto* first = winner(row);
  return first && row.sweep->metric == metric ? number_cell(first->value) : RunCell();
}

/// "best weights (20)", "last weights (40)"; of a sweep "trial 3".
RunCell weights_cell(const RunRow& row) {
  if (const auto* first = winner(row)) return {fmt::format("trial {}", first->number), {}};
  const auto& weights = row.record.scores.weights;
  if (weights.name.empty()) return {};
  return {weights.name + (weights.step < 0 ? "" : fmt::format(" ({})", weights.step)), {}};
}

RunCell best_cell(const RunRow& row) {
  if (const auto* first = winner(row)) return number_cell(first->best);
  if (!row.record.best) return {};
  const auto& best = *row.record.best;
  auto cell = number_cell(value_named(best.values, best.metric));
  if (cell.number) cell.text += fmt::format(" ({})", best.step);
  return cell;
}

RunCell time_cell(const RunRow& row) {
  if (row.trials.empty()) {
    const auto time = duration_of(row.record);
    return std::isnan(time.seconds) ? RunCell() : RunCell{to_text(time), time.seconds};
  }
  RunDuration sum{0, false};
  for (const auto& trial : row.trials) {
    const auto time = duration_of(trial.record);
    if (std::isnan(time.seconds)) continue;
    sum = {sum.seconds + time.seconds, sum.whole || time.whole};
  }
  return {to_text(sum), sum.seconds};
}

RunCell differences_cell(const RunRow& row) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : row.differences)
    parts.push_back(value.empty() ? key : key + "=" + value);
  return {join(parts, " "), {}};
}

RunCell fact_cell(const RunRow& row, const std::string& title) {
  for (const auto& [name, value] : row.record.facts)
    if (name == title) return {value, parse_number(value)};
  return {};
}

RunCell path_cell(const RunRow& row) { return {row.record.folder, {}}; }

RunCell recipe_cell(const RunRow& row) { return {row.record.recipe, {}}; }

RunCell metric_cell(const RunRow& row) { return {metric_of(row), {}}; }

using Column = std::pair<std::string, std::function<RunCell(const RunRow&)>>;

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> made{
        {"run", path_cell},
        {"recipe", recipe_cell},
        {"state", state_cell},
        {"step", step_cell},
        {"metric", metric_cell},
        {"last",
         [](const RunRow& row) {
           return number_cell(value_named(row.record.metrics, metric_of(row)));
         }},
        {"best", best_cell},
        {"value", [](const RunRow& row) { return value_cell(row, metric_of(row)); }},
        {"weights", weights_cell},
        {"time", time_cell},
        {"differs", differences_cell}};
    for (const std::string title : {"started", "ended", "exit code", "device", "ranks", "host"}) {
      auto name = title;
      std::replace(name.begin(), name.end(), ' ', '_');
      made.emplace_back(name, [title](const RunRow& row) { return fact_cell(row, title); });
    }
    return made;
  }();
  return all;
}

NamedTexts with_values(const std::vector<std::string>& keys, const RunOptions& options) {
  NamedTexts values;
  for (const auto& key : keys) values.emplace_back(key, option_value(options, key));
  std::erase_if(values, [](const auto& option) { return option.second.empty(); });
  return values;
}

void add_to_runs(const std::vector<RunRow*>& runs, std::size_t most) {
  std::vector<RunOptions> all;
  for (const auto* run : runs) all.push_back(run->record.options);
  const auto keys = differing_options(all);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (keys.size() <= most)
      runs[i]->differences = with_values(keys, all[i]);
    else if (i > 0)
      runs[i]->differences = with_values(differing_options({all[i - 1], all[i]}), all[i]);
}

void add_to_sweep(RunRow& sweep) {
  std::vector<RunOptions> all;
  for (const auto& trial : sweep.trials) all.push_back(trial.record.options);
  for (const auto& key : differing_options(all)) sweep.differences.emplace_back(key, "");
}

}  // namespace

RunRows read_rows(const std::vector<std::string>& roots, bool trials_as_rows) {
  RunRows rows;
  for (const auto& root : roots)
    for (const auto& found : find_runs(root)) {
      const bool is_named = found.path == root;  // who names a sweep wants to see into it
      if (!found.is_sweep)
        rows.push_back(row_of(found.path));
      else if (trials_as_rows || is_named)
        for (const auto& run : found.runs) rows.push_back(row_of(run));
      else if (!found.runs.empty())
        rows.push_back(sweep_row(found));
    }
  read_runs(rows);
  return rows;
}

void add_differences(RunRows& rows, std::size_t most) {
  std::map<std::string, std::vector<RunRow*>> recipes;
  for (auto& row : rows) {
    if (!row.trials.empty())
      add_to_sweep(row);
    else if (!row.record.options.empty())
      recipes[row.record.recipe].push_back(&row);
  }
  for (const auto& [recipe, runs] : recipes) add_to_runs(runs, most);
}

RunCell cell_of(const RunRow& row, const std::string& column) {
  for (const auto& [name, cell] : columns())
    if (name == column) return cell(row);
  if (column.find('/') != std::string::npos) return value_cell(row, column);
  const auto value = option_value(row.record.options, column);
  return {value, parse_number(value)};
}

const std::vector<std::string>& column_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& column : columns()) all.push_back(column.first);
    return all;
  }();
  return names;
}

std::string metric_of(const RunRow& row) {
  if (row.trials.empty()) return main_metric(row.record);
  return row.sweep ? row.sweep->metric : "";
}

void print_csv(const RunRows& rows, const std::vector<std::string>& columns, CsvReader reader) {
  std::vector<std::string> header;
  for (const auto& column : columns) header.push_back(csv_cell(column, reader));
  std::string text = join(header, ",") + "\n";
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const auto& column : columns) {
      const auto cell = cell_of(row, column);
      cells.push_back(csv_cell(cell.number ? format_number(*cell.number) : cell.text, reader));
    }
    text += join(cells, ",") + "\n";
  }
  print_exact(text);
}

std::string mean_text(const std::vector<double>& values) {
  const auto mean = mean_of(values);
  if (std::isnan(mean.deviation)) return short_number(mean.value);
  char deviation[32];
  std::snprintf(deviation, sizeof deviation, "%.2g", mean.deviation);
  return short_number(mean.value) + " ± " + short_number(std::strtod(deviation, nullptr));
}

}  // namespace ddptrain
