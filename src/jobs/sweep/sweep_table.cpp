#include "jobs/sweep/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/files/files.h"
#include "base/mean.h"
#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"
#include "jobs/sweep/importance.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostName = 40;

/// The runs of a trial at a rung, one a seed, as far as they are known.
std::vector<const RunValue*> runs_of(const SweepPlan& plan, const SweepRecord& record,
                                     const TrialJob& job) {
  std::vector<const RunValue*> runs;
  for (std::int64_t seed = 0; seed < plan.spec.seeds; ++seed)
    if (const auto* value = record.find({job, seed})) runs.push_back(value);
  return runs;
}

std::vector<double> each(const std::vector<const RunValue*>& runs, double RunValue::*member) {
  std::vector<double> numbers;
  for (const auto* run : runs) numbers.push_back(run->*member);
  return numbers;
}

bool is_whole(const SweepPlan& plan, const std::vector<const RunValue*>& runs) {
  return std::ssize(runs) == plan.spec.seeds;
}

/// Every rung known of a trial, the last one that is whole, and what went wrong.
SweepTrialResult row_of(const SweepPlan& plan, const SweepRecord& record, std::size_t trial) {
  SweepTrialResult row;
  row.number = static_cast<std::int64_t>(trial) + 1;
  for (const auto& [key, value] : plan.trials[trial].values) row.values.push_back(value);
  const auto last = std::ssize(plan.halving.lengths) - 1;
  for (std::int64_t rung = 0; rung <= last; ++rung) {
    const auto runs = runs_of(plan, record, {static_cast<std::int64_t>(trial), rung});
    for (const auto* run : runs)
      if (!run->error.empty()) row.error = run->error;
    if (!is_whole(plan, runs)) break;
    const auto mean = mean_of(each(runs, &RunValue::value));
    row.rung = rung;
    row.value = mean.value;
    row.deviation = mean.deviation;
    row.best = mean_of(each(runs, &RunValue::best)).value;
    row.steps = 0;
    const bool ended =
        std::all_of(runs.begin(), runs.end(), [](const RunValue* run) { return run->ended; });
    for (const auto* run : runs) row.steps += run->steps;
    row.state = ended ? "done" : "stopped";
  }
  if (!row.error.empty()) row.state = "failed";
  for (std::int64_t seed = 0; seed < plan.spec.seeds; ++seed) {
    const RunKey key{{static_cast<std::int64_t>(trial), 0}, seed};
    row.runs.push_back(fs::path(record.run_folder(key, plan.spec.seeds)).filename());
  }
  return row;
}

bool is_better(const SweepTrialResult& a, const SweepTrialResult& b, BestMode mode) {
  if (std::isnan(a.value) || std::isnan(b.value))
    return !std::isnan(a.value) && std::isnan(b.value);
  if (a.rung != b.rung) return a.rung > b.rung;
  return mode == BestMode::max ? a.value > b.value : a.value < b.value;
}

std::vector<std::string> keys_of(const SweepPlan& plan) {
  std::vector<std::string> keys;
  for (const auto& [key, spec] : plan.spec.keys) keys.push_back(key);
  return keys;
}

const char* weights_name(const SweepPlan& plan) {
  return plan.keeps_best ? "best weights" : "last weights";
}

/// The rows under their names. What the best evaluation had is the value where its weights are
/// kept.
std::vector<std::vector<std::string>> cells_of(const SweepPlan& plan,
                                               const std::vector<SweepTrialResult>& rows) {
  std::vector<std::vector<std::string>> cells{{"trial"}};
  for (const auto& key : keys_of(plan)) cells[0].push_back(one_line(key, kMostName));
  cells[0].push_back(plan.watched.name);
  if (plan.spec.seeds > 1) cells[0].emplace_back("deviation");
  if (!plan.keeps_best) cells[0].emplace_back("best");
  for (const auto* name : {"steps", "state"}) cells[0].emplace_back(name);
  for (const auto& row : rows) {
    auto& line = cells.emplace_back();
    line.push_back(std::to_string(row.number));
    for (const auto& value : row.values) line.push_back(one_line(value, kMostName));
    line.push_back(short_number(row.value));
    if (plan.spec.seeds > 1) line.push_back(short_number(row.deviation));
    if (!plan.keeps_best) line.push_back(short_number(row.best));
    line.push_back(std::to_string(row.steps));
    line.push_back(row.state);
  }
  return cells;
}

/// By what trials are ranked, and whose values these are.
std::string caption_of(const SweepPlan& plan) {
  std::string text =
      "by " + plan.watched.name +
      (plan.watched.mode == BestMode::max ? " (larger is better)" : " (smaller is better)");
  text += plan.keeps_best ? " of the best weights, which checkpoint.keep_best keeps"
                          : " of the last weights; best: of any evaluation, whose weights are not "
                            "kept without checkpoint.keep_best";
  if (plan.spec.seeds > 1) text += fmt::format("; mean over {} seeds", plan.spec.seeds);
  return text;
}

/// The share of each option (importance.h), by the metric at the lowest rung, which all trials
/// reach.
std::vector<std::pair<std::string, double>> importances(const SweepPlan& plan,
                                                        const SweepRecord& record) {
  std::vector<std::pair<std::string, double>> shares;
  std::size_t i = 0;
  for (const auto& [key, spec] : plan.spec.keys) {
    std::vector<TrialOutcome> trials;
    for (std::size_t trial = 0; trial < plan.trials.size(); ++trial) {
      const auto& value = plan.trials[trial].values.at(i).second;
      const auto found = job_value(plan, record, {static_cast<std::int64_t>(trial), 0});
      trials.push_back({value, parse_number(value).value_or(0), found.value_or(std::nan(""))});
    }
    shares.emplace_back(key, explained_share(std::move(trials), spec.is_range()));
    ++i;
  }
  return shares;
}

/// A line for each option; without the header where it is a table.
std::vector<std::string> shares_lines(const SweepPlan& plan, const SweepRecord& record,
                                      std::size_t columns) {
  std::vector<std::vector<std::string>> shares{{"", ""}};
  for (const auto& [key, share] : importances(plan, record))
    shares.push_back({"  " + one_line(key, kMostName), short_number(share)});
  auto lines = aligned(shares);
  if (!all_fit(lines, columns)) return table_lines(shares, columns);
  lines.erase(lines.begin());
  return lines;
}

std::string csv_of(const SweepPlan& plan, const std::vector<SweepTrialResult>& rows) {
  std::vector<std::string> header{"rank", "trial"};
  for (const auto& key : keys_of(plan)) header.push_back(csv_cell(key));
  for (const auto& name : {plan.watched.name, std::string("deviation"), std::string("best")})
    header.push_back(csv_cell(name));
  for (const auto* name : {"rung", "steps", "state", "runs", "error", "weights"})
    header.emplace_back(name);
  auto text = join(header, ",") + "\n";
  for (std::size_t rank = 0; rank < rows.size(); ++rank) {
    const auto& row = rows[rank];
    std::vector<std::string> cells{std::to_string(rank + 1), std::to_string(row.number)};
    for (const auto& value : row.values) cells.push_back(csv_cell(value));
    for (const double number : {row.value, row.deviation, row.best})
      cells.push_back(csv_cell(number));
    cells.push_back(std::to_string(row.rung));
    cells.push_back(std::to_string(row.steps));
    cells.push_back(row.state);
    cells.push_back(csv_cell(join(row.runs, " ")));
    cells.push_back(csv_cell(row.error));
    cells.emplace_back(weights_name(plan));
    text += join(cells, ",") + "\n";
  }
  return text;
}

}  // namespace

std::vector<SweepTrialResult> sweep_trials(const SweepPlan& plan, const SweepRecord& record) {
  std::vector<SweepTrialResult> rows;
  for (std::size_t trial = 0; trial < plan.trials.size(); ++trial)
    rows.push_back(row_of(plan, record, trial));
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const SweepTrialResult& a, const SweepTrialResult& b) {
                     return is_better(a, b, plan.watched.mode);
                   });
  return rows;
}

std::string table_text(const SweepPlan& plan, const SweepRecord& record, std::size_t columns) {
  const auto rows = sweep_trials(plan, record);
  auto text = join(table_lines(cells_of(plan, rows), columns), "\n") + "\n";
  for (const auto& row : rows)
    if (!row.error.empty())
      text += fmt::format("trial {} failed: {}\n", row.number, shown(row.error));
  text += fmt::format(
      "\n{}\n{}\n", broken_at_blanks(caption_of(plan), columns),
      broken_at_blanks(
          "share of the variance of " + plan.watched.name + " that an option explains:", columns));
  return text + join(shares_lines(plan, record, columns), "\n") + "\n";
}

std::string write_tables(const SweepPlan& plan, const SweepRecord& record) {
  const auto rows = sweep_trials(plan, record);
  const auto text = table_text(plan, record, 0);
  const auto file = record.folder() + "/trials";
  write_atomically(file + ".txt", text);
  write_atomically(file + ".csv", csv_of(plan, rows));
  write_sweep_results(
      {.folder = {},
       .name = {},
       .method = std::string(names(plan.spec.method)[static_cast<std::size_t>(plan.spec.method)]),
       .metric = plan.watched.name,
       .mode = plan.watched.mode,
       .weights = weights_name(plan),
       .keys = keys_of(plan),
       .rungs = plan.halving.lengths,
       .importance = importances(plan, record),
       .trials = rows},
      record.folder());
  return text;
}

std::optional<double> job_value(const SweepPlan& plan, const SweepRecord& record,
                                const TrialJob& job) {
  const auto runs = runs_of(plan, record, job);
  if (!is_whole(plan, runs)) return {};
  const auto mean = mean_of(each(runs, &RunValue::value)).value;
  return plan.watched.mode == BestMode::max ? mean : -mean;
}

std::optional<double> value_or_failure(const SweepPlan& plan, const SweepRecord& record,
                                       const TrialJob& job) {
  for (std::int64_t seed = 0; seed < plan.spec.seeds; ++seed)
    if (const auto* run = record.find({job, seed}); run && !run->error.empty()) return std::nan("");
  return job_value(plan, record, job);
}

}  // namespace ddptrain
