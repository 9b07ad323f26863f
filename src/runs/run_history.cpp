#include "runs/run_history.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "runs/events_jsonl.h"
#include "runs/run_record.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t kEnd = 16384;  // bytes of a file that hold the last two log periods

void add_point(std::vector<RunCurve>& all, const std::string& name, double step, double value) {
  auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& series) { return series.name == name; });
  if (found == all.end()) found = all.insert(found, {name, {}});
  found->points.x.push_back(step);
  found->points.y.push_back(value);
}

void drop_after(std::vector<RunCurve>& all, double step) {
  for (auto& series : all)
    while (!series.points.x.empty() && series.points.x.back() > step) {
      series.points.x.pop_back();
      series.points.y.pop_back();
    }
}

/// Steps and curves have no room for where an event is in time.
bool is_curve(const std::string& name) { return name != "seconds"; }

void add_tables(RunHistory& run, const RunEvent& event, const ScoredWeights& weights) {
  run.tables.clear();
  for (auto table : event.tables) {
    table.weights = weights;
    if (!table.rows.empty()) run.tables.push_back(std::move(table));
  }
}

void add_evaluation(RunHistory& run, const RunEvent& event, double step) {
  run.last = event.values;
  run.last_step = *event.step;
  for (const auto& [name, value] : event.values) add_point(run.evaluated, name, step, value);
  add_tables(run, event, {"last evaluation", run.last_step});
}

void add_texts(RunHistory& run, const RunEvent& event, double step) {
  std::erase_if(run.texts, [&](const TextsAtStep& each) { return each.step >= step; });
  run.texts.push_back({step, event.texts});
}

/// Events of earlier versions have the step alone.
ScoredWeights weights_in(const RunEvent& event) {
  return {event.weights.value_or("weights"), event.weights_step.value_or(-1)};
}

void add_test(RunHistory& run, const RunEvent& event) {
  run.test = event.values;
  run.test_weights = weights_in(event);
}

void add_step(RunHistory& run, const RunEvent& event, double step) {
  for (const auto& [name, value] : event.values)
    if (is_curve(name)) add_point(run.steps, name, step, value);
  if (const auto rate = value_named(event.values, "samples_per_second"); rate > 0)
    run.samples_per_second = rate;
}

void add_warning(RunHistory& run, const RunEvent& event) {
  const auto text = without_secrets(event.text.value_or(""));
  const bool known =
      std::find(run.warnings.begin(), run.warnings.end(), text) != run.warnings.end();
  if (!known && run.warnings.size() < 1000) run.warnings.push_back(text);
}

/// Each start of a run ends with the seconds of its own phases.
void add_phases(RunHistory& run, const RunEvent& event) {
  for (const auto& [name, seconds] : event.phase_seconds) {
    auto found = std::find_if(run.phases.begin(), run.phases.end(),
                              [&, &phase = name](const auto& each) { return each.first == phase; });
    if (found == run.phases.end()) found = run.phases.insert(found, {name, 0});
    found->second += seconds;
  }
}

void add_event(RunHistory& run, const RunEvent& event) {
  if (!event.step) return;
  const auto step = static_cast<double>(*event.step);
  const auto& kind = event.kind;
  run.step = kind == "resume" ? step : std::max(run.step, step);
  if (kind == "resume") run.resumed.push_back(*event.step);
  if (kind == "resume") drop_after(run.steps, step), drop_after(run.evaluated, step);
  if (kind == "resume")
    std::erase_if(run.texts, [&](const TextsAtStep& each) { return each.step > step; });
  if (kind == "step") add_step(run, event, step);
  if (kind == "evaluation") add_evaluation(run, event, step);
  if (kind == "texts") add_texts(run, event, step);
  if (kind == "result") add_tables(run, event, weights_in(event));
  if (kind == "test") add_test(run, event);
  if (kind == "warning") add_warning(run, event);
  if (kind == "end") add_phases(run, event);
}

/// The first and the last bytes, where there are more than that.
std::string ends_of(const InputFile& file) {
  const auto size = file.size();
  if (size <= 2 * kEnd) {
    std::string text(size, '\0');
    file.read(text.data(), size, 0);
    return text;
  }
  std::string first(kEnd, '\0'), last(kEnd, '\0');
  file.read(first.data(), kEnd, 0);
  file.read(last.data(), kEnd, size - kEnd);
  return first.substr(0, first.find('\n') + 1) + last.substr(last.find('\n') + 1);
}

/// Of an event that says where the run is; nothing for other lines, and for those that were cut.
std::optional<RunEvent> placed_event(std::string_view line) {
  auto event = event_of(line);
  if (!event || !event->step) return {};
  return event;
}

/// Seconds a step, from the two last log periods; NaN where there are not two.
double pace_of(const std::vector<std::string>& lines) {
  double step = std::nan(""), seconds = std::nan("");
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto event = placed_event(*line);
    const auto until = event ? value_named(event->values, "seconds") : std::nan("");
    if (!std::isfinite(until)) continue;
    const auto earlier = static_cast<double>(*event->step);
    if (step > earlier) return (seconds - until) / (step - earlier);
    step = earlier;
    seconds = until;
  }
  return std::nan("");
}

RunProgress progress_in(const std::vector<std::string>& lines, bool is_running) {
  RunProgress progress;
  bool is_placed = false;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (is_placed && line->find("\"total_steps\"") == std::string::npos) continue;
    const auto event = placed_event(*line);
    if (!event) continue;
    if (!std::exchange(is_placed, true)) {
      progress.step = static_cast<double>(*event->step);
      progress.time = utc_seconds(event->time);
    }
    // A run that is resumed may have become longer or shorter than it was.
    if (const auto total = event->total_steps.value_or(0); total > 0) {
      progress.total_steps = static_cast<double>(total);
      break;
    }
  }
  const auto pace = is_running ? pace_of(lines) : std::nan("");
  if (pace > 0 && progress.total_steps > progress.step)
    progress.seconds_left = (progress.total_steps - progress.step) * pace;
  return progress;
}

}  // namespace

RunHistory read_history(const std::string& text) {
  RunHistory history;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (const auto event = event_of(std::string_view(text).substr(at, end - at)))
      add_event(history, *event);
    else if (end > at)
      ++history.torn;
    at = end + 1;
  }
  return history;
}

RunProgress read_progress(const std::string& folder, bool is_running) {
  try {
    return progress_in(split(ends_of(InputFile(folder + "/" + kEventsJsonl)), '\n'), is_running);
  } catch (const Error&) {  // a file that cannot be read shows no progress
    return {};
  }
}

}  // namespace ddptrain
