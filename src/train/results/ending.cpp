#include "train/results/ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/output/table_text.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "data/dataset.h"
#include "recipe/stages.h"
#include "runs/events_jsonl.h"
#include "runs/metrics_csv.h"
#include "train/run_state.h"
#include "train/training.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRows = 8;
constexpr std::size_t kMostName = 40;

/// What of the validation split `predict` could read: a sample's own file, else the data's.
std::string some_input(const Training& t) {
  if (t.data->shard(Split::valid, 0) >= 0) return {};  // predict reads no shards
  const auto name = t.data->sample_name(Split::valid, 0);
  if (std::filesystem::is_regular_file(name)) return name;
  for (const auto* option : {"file", "root"}) {
    const auto* given = t.recipe.data.node().find(option);
    if (given && !given->is_null() && std::filesystem::exists(given->text)) return given->text;
  }
  return {};
}

/// Something is left to train.
bool is_partial(const RunResult& ending) {
  return ending.reason == "interrupted" || ending.reason == kPaused;
}

std::string position(const RunResult& ending) {
  auto text = fmt::format("step {}", ending.step);
  if (ending.step < ending.total_steps) text += fmt::format(" of {}", ending.total_steps);
  return text + ", epoch " + short_number(ending.epoch);
}

/// "12.3 s", of a resumed run "12.3 s (1 min 3 s with earlier starts)".
std::string time_of(const RunResult& ending) {
  const auto here = format_seconds(ending.seconds);
  if (ending.earlier.seconds > 0)
    return fmt::format(
        "{} ({} with earlier starts)", here,
        to_text(RunDuration{ending.seconds + ending.earlier.seconds, ending.earlier.whole}));
  return here;
}

bool in_one_evaluation(const RunResult& ending) {
  return ending.best && ending.best->step == ending.evaluated;
}

std::vector<std::string> title(const RunResult& ending) {
  const auto last = fmt::format(" (step {})", ending.evaluated);
  if (!ending.best) return {"", "last" + last};
  if (in_one_evaluation(ending)) return {"", "best and last" + last};
  return {"", fmt::format("best (step {})", ending.best->step), "last" + last};
}

/// By what the best is one, and of a complete run which weights are its result.
std::string better(const RunResult& ending) {
  const auto& best = *ending.best;
  const auto* way = best.mode == BestMode::max ? " (larger is better)" : " (smaller is better)";
  const auto text = "best by " + one_line(best.metric, kMostName) + way;
  const auto result = to_text(ending.weights);
  return is_partial(ending) || result.empty() ? text : text + "; result: " + result;
}

/// "seed 42; 480 training samples, 120 validation samples"
std::string drawn_from(const RunResult& ending) {
  return fmt::format("seed {}; {}, {}", ending.seed,
                     plural(ending.training_samples, "training sample"),
                     plural(ending.validation_samples, "validation sample"));
}

void add_tables(std::vector<std::string>& lines, const std::vector<NamedTable>& tables,
                std::size_t columns) {
  for (const auto& table : tables)
    for (auto& line : to_lines(table, columns)) lines.push_back(std::move(line));
}

/// What the test split came to, under the weights that it was scored with.
void add_test(std::vector<std::string>& lines, const RunResult& ending, std::size_t columns) {
  const auto& test = *ending.test;
  const auto step = ending.weights.step;
  const auto which = step == ending.step ? "last" : "best";
  std::vector<std::vector<std::string>> rows{
      {"", fmt::format("{} weights (step {})", which, step)}};
  const auto count = std::min(test.values.size(), kMostRows);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [name, value] = test.values[i];
    rows.push_back({one_line(name, kMostName), short_number(value)});
  }
  for (auto& line : table_lines(rows, columns)) lines.push_back(std::move(line));
  if (test.values.size() > count)
    lines.push_back(fmt::format("and {} more in {}", test.values.size() - count, kEventsJsonl));
  add_tables(lines, test.tables, columns);
}

/// A checkpoint's folder, which may have been deleted since.
std::string checkpoint_of(const RunResult& ending, std::int64_t step) {
  const auto path = ending.folder + "/checkpoints/" + checkpoint_name(step);
  return fs::exists(path) ? path : "";
}

bool is_best(const RunResult& ending) {
  std::error_code none;
  return ending.best && fs::read_symlink(ending.folder + "/checkpoints/best", none).filename() ==
                            checkpoint_name(ending.best->step);
}

std::vector<std::string> weights(const RunResult& ending) {
  std::vector<std::string> lines;
  const auto last = checkpoint_of(ending, ending.step);
  if (ending.best && ending.best->step != ending.step) {
    const auto best = is_best(ending) ? ending.folder + "/checkpoints/best"
                                      : checkpoint_of(ending, ending.best->step);
    lines.push_back("best weights: " + (best.empty() ? "not kept; 'checkpoint.keep_best' keeps them"
                                                     : fmt::format("{} (step {})", typed_path(best),
                                                                   ending.best->step)));
  }
  const bool both = ending.best && ending.best->step == ending.step;
  if (!last.empty())
    lines.push_back((both ? "best and last weights: " : "last weights: ") + typed_path(last));
  return lines;
}

/// " --checkpoint best" where better weights than the last are kept.
std::string which_weights(const RunResult& ending) {
  if (!ending.best || ending.best->step == ending.step) return "";
  if (is_best(ending)) return " --checkpoint best";
  if (checkpoint_of(ending, ending.best->step).empty()) return "";
  return " --checkpoint " + checkpoint_name(ending.best->step);
}

NamedValues with_test_scores(NamedValues scores, const RunResult& ending) {
  if (const auto& test = ending.test)
    scores.insert(scores.end(), test->values.begin(), test->values.end());
  return scores;
}

}  // namespace

void describe(RunResult& ending, const Training& t, const RunState& state) {
  const auto& at = state.position;
  ending.step = at.step;
  ending.total_steps = seconds_of(t.recipe) ? 0 : t.length.total;
  ending.epoch = static_cast<double>(at.epoch) +
                 static_cast<double>(at.step_in_epoch) / static_cast<double>(t.length.per_epoch);
  ending.evaluated = at.evaluated;
  ending.seed = t.recipe.seed;
  ending.training_samples = t.data->size(Split::train);
  ending.validation_samples = t.data->size(Split::valid);
  ending.report = t.recipe.output.report;
  ending.input = some_input(t);
  ending.predicts_files = catalog<Dataset>().find(t.recipe.data.type())->has("predicts_files");
  ending.writes_text = t.data->facts().tokens.has_value();
}

int exit_code(const RunResult& ending) {
  return ending.signal ? 128 + ending.signal : static_cast<int>(ending.code);
}

NamedValues scores_of(const RunResult& ending) { return with_test_scores(ending.last, ending); }

NamedValues result_scores(const RunResult& ending) {
  const auto& scored = ending.scored.values;
  return scored.empty() ? scores_of(ending) : with_test_scores(scored, ending);
}

std::string typed_path(const std::string& path) {
  std::error_code none;
  const auto here = fs::current_path(none).lexically_normal();
  const auto relative = fs::path(path).lexically_relative(here);
  const bool below = !none && !relative.empty() && *relative.begin() != "..";
  return shell_word(below ? relative.string() : path);
}

std::string headline(const RunResult& ending) {
  const auto time = fmt::format(" after {} at {}", time_of(ending), position(ending));
  if (is_partial(ending)) return ending.reason + time;
  const std::string stopped = "stopped: ";
  if (ending.reason.starts_with(stopped))
    return fmt::format("stopped{}: {}", time, ending.reason.substr(stopped.size()));
  return fmt::format("{} in {}: {}{}", ending.reason, time_of(ending), position(ending),
                     ending.code != Exit::expect ? "" : "; short of what 'expect' asks");
}

std::vector<std::string> results(const RunResult& ending, std::size_t columns) {
  if (ending.last.empty()) return {};
  std::vector<std::vector<std::string>> rows{title(ending)};
  const auto count = std::min(ending.last.size(), kMostRows);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& name = ending.last[i].first;
    rows.push_back({one_line(name, kMostName)});
    if (rows.front().size() > 2)
      rows.back().push_back(short_number(value_named(ending.best->values, name)));
    rows.back().push_back(short_number(ending.last[i].second));
  }
  auto lines = table_lines(rows, columns);
  if (ending.last.size() > count)
    lines.push_back(fmt::format("and {} more in {}", ending.last.size() - count, kMetricsCsv));
  if (ending.best)
    for (auto& line : split(broken_at_blanks(better(ending), columns), '\n'))
      lines.push_back(std::move(line));
  if (ending.training_samples > 0)
    for (auto& line : split(broken_at_blanks(drawn_from(ending), columns), '\n'))
      lines.push_back(std::move(line));
  add_tables(lines, ending.scored.tables, columns);
  if (ending.test) add_test(lines, ending, columns);
  return lines;
}

std::vector<std::string> what_next(const RunResult& ending) {
  auto lines = weights(ending);
  const auto run = typed_path(ending.folder);
  const auto call = fmt::format("  {} ", called_as());
  if (ending.report) lines.push_back("report: " + typed_path(ending.folder + "/report.html"));
  lines.emplace_back("next:");
  if (is_partial(ending)) {
    lines.push_back(call + "resume " + run);
    return lines;
  }
  const auto which = which_weights(ending);
  lines.push_back(call + "report " + run);
  if (ending.writes_text)
    lines.push_back(fmt::format("{}generate {} PROMPT{}", call, run, which));
  else
    lines.push_back(fmt::format("{}predict {} {}{}{}", call, run,
                                ending.input.empty() ? "INPUT" : typed_path(ending.input), which,
                                ending.predicts_files ? " --output predicted" : ""));
  lines.push_back(fmt::format("{}export {} model.safetensors{}", call, run, which));
  return lines;
}

}  // namespace ddptrain
