#include "jobs/runs/run_row.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "base/mean.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/quoting.h"
#include "base/text.h"
#include "runs/run_list.h"

namespace ddptrain {
namespace {

constexpr std::size_t kRunsOfThread = 50;  // at least
constexpr std::size_t kLongestRecipe = std::size_t{16} << 20;

RunOptions options_of(const std::string& folder, RecipeReader& reader) {
  try {
    auto options = reader.options(read_text(folder + "/recipe.yaml", kLongestRecipe));
    return options ? std::move(*options) : RunOptions();
  } catch (const Error&) {  // it is missing, or cannot be read
    return {};
  }
}

RunRow row_of(const std::string& path) {
  RunRow row;
  row.path = path;
  return row;
}

RunRow sweep_row(const RunsFolder& sweep) {
  auto row = row_of(sweep.path);
  row.record.name = sweep.path;
  for (const auto& run : sweep.runs) row.trials.push_back(row_of(run));
  return row;
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

void read_record(RunRow& row) {
  row.record = read_run_record(row.path);
  row.progress = read_progress(row.path, row.record.status == RunStatus::running);
}

/// On several threads where there are many.
void read_records(const std::vector<RunRow*>& runs) {
  const std::size_t most = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  const auto parts = std::clamp<std::size_t>(runs.size() / kRunsOfThread, 1, most);
  const auto read_part = [&](std::size_t part) {
    for (auto i = part; i < runs.size(); i += parts) read_record(*runs[i]);
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
  for (auto* run : runs) {
    run->options = options_of(run->path, reader);
    if (run->record.recipe.empty()) run->record.recipe = option_value(run->options, "name");
  }
  for (auto& row : rows)
    if (!row.trials.empty()) row.record.recipe = row.trials[0].record.recipe;
}

double seconds_of(const RunRow& row) {
  const auto& record = row.record;
  if (record.began <= 0) return std::nan("");
  const double now = static_cast<double>(std::time(nullptr));
  const double end = record.status == RunStatus::running ? now
                     : record.ended > 0                  ? record.ended
                                                         : row.progress.time;
  return end >= record.began ? end - record.began : std::nan("");
}

RunCell number_cell(double value) {
  if (std::isnan(value)) return {};
  return {short_number(value), value};
}

RunCell state_cell(const RunRow& row) {
  if (!row.trials.empty())
    return {plural(std::ssize(row.trials), "run") + ": " + count_states(row.trials), {}};
  auto text = status_text(row.record);
  if (row.record.status == RunStatus::running && row.progress.seconds_left > 0)
    text += ", " + format_seconds(row.progress.seconds_left) + " left";
  return {text, {}};
}

RunCell step_cell(const RunRow& row) {
  const auto& progress = row.progress;
  if (progress.total_steps <= 0 && progress.step <= 0) return {};
  auto text = format_number(progress.step);
  if (progress.total_steps > 0 && progress.total_steps != progress.step)
    text += "/" + format_number(progress.total_steps);
  return {text, progress.step};
}

bool is_better(const BestEvaluation& a, const BestEvaluation& b) {
  const auto value_a = value_named(a.values, a.metric), value_b = value_named(b.values, b.metric);
  if (std::isnan(value_a) || std::isnan(value_b))
    return std::isnan(value_b) && !std::isnan(value_a);
  return a.mode == BestMode::max ? value_a > value_b : value_a < value_b;
}

const RunRow* best_trial(const RunRow& sweep) {
  const RunRow* best = nullptr;
  for (const auto& trial : sweep.trials)
    if (trial.record.best && (!best || is_better(*trial.record.best, *best->record.best)))
      best = &trial;
  return best;
}

RunCell best_cell(const RunRow& row) {
  const auto* run = row.trials.empty() ? &row : best_trial(row);
  if (!run || !run->record.best) return {};
  const auto& best = *run->record.best;
  auto cell = number_cell(value_named(best.values, best.metric));
  if (cell.number)
    cell.text += row.trials.empty()
                     ? " (" + std::to_string(best.step) + ")"
                     : " (" + std::filesystem::path(run->path).filename().string() + ")";
  return cell;
}

RunCell time_cell(const RunRow& row) {
  if (!row.trials.empty()) {
    double sum = 0;
    for (const auto& trial : row.trials)
      if (const auto seconds = seconds_of(trial); !std::isnan(seconds)) sum += seconds;
    return {format_seconds(sum), sum};
  }
  const auto seconds = seconds_of(row);
  return std::isnan(seconds) ? RunCell() : RunCell{format_seconds(seconds), seconds};
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

using Column = std::pair<std::string, std::function<RunCell(const RunRow&)>>;

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> made{{"run",
                              [](const RunRow& row) {
                                return RunCell{row.path, {}};
                              }},
                             {"recipe",
                              [](const RunRow& row) {
                                return RunCell{row.record.recipe, {}};
                              }},
                             {"state", state_cell},
                             {"step", step_cell},
                             {"metric",
                              [](const RunRow& row) {
                                return RunCell{metric_of(row), {}};
                              }},
                             {"last",
                              [](const RunRow& row) {
                                return number_cell(value_named(row.record.metrics, metric_of(row)));
                              }},
                             {"best", best_cell},
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
  for (const auto* run : runs) all.push_back(run->options);
  const auto keys = differing_options(all);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (keys.size() <= most)
      runs[i]->differences = with_values(keys, all[i]);
    else if (i > 0)
      runs[i]->differences = with_values(differing_options({all[i - 1], all[i]}), all[i]);
}

void add_to_sweep(RunRow& sweep) {
  std::vector<RunOptions> all;
  for (const auto& trial : sweep.trials) all.push_back(trial.options);
  for (const auto& key : differing_options(all)) sweep.differences.emplace_back(key, "");
}

}  // namespace

RunRows read_rows(const std::vector<std::string>& roots, bool apart) {
  RunRows rows;
  for (const auto& root : roots)
    for (const auto& found : find_runs(root)) {
      const bool is_named = found.path == root;  // who names a sweep wants to see into it
      if (!found.is_sweep)
        rows.push_back(row_of(found.path));
      else if (apart || is_named)
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
    else if (!row.options.empty())
      recipes[row.record.recipe].push_back(&row);
  }
  for (const auto& [recipe, runs] : recipes) add_to_runs(runs, most);
}

RunCell cell_of(const RunRow& row, const std::string& column) {
  for (const auto& [name, cell] : columns())
    if (name == column) return cell(row);
  if (column.find('/') != std::string::npos)
    return number_cell(value_named(row.record.metrics, column));
  const auto value = option_value(row.options, column);
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
  const auto* run = row.trials.empty() ? &row : best_trial(row);
  if (!run) return "";
  if (run->record.best) return run->record.best->metric;
  return run->record.metrics.empty() ? "" : run->record.metrics[0].first;
}

void print_csv(const RunRows& rows, const std::vector<std::string>& columns) {
  std::vector<std::string> header;
  for (const auto& column : columns) header.push_back(csv_cell(column));
  std::string text = join(header, ",") + "\n";
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const auto& column : columns) {
      const auto cell = cell_of(row, column);
      cells.push_back(csv_cell(cell.number ? format_number(*cell.number) : cell.text));
    }
    text += join(cells, ",") + "\n";
  }
  print_exact(text);
}

std::string mean_text(const std::vector<double>& values) {
  const auto mean = mean_of(values);
  char deviation[32];
  std::snprintf(deviation, sizeof deviation, "%.2g", mean.deviation);
  return short_number(mean.value) + " ± " + deviation;
}

std::string count_states(const RunRows& rows) {
  std::map<RunStatus, std::size_t> counts;
  for (const auto& row : rows) ++counts[row.record.status];
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts)
    parts.push_back(std::to_string(count) + " " + status_name(status));
  return join(parts, ", ");
}

}  // namespace ddptrain
