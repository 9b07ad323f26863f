#include "runs/run_history.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "runs/run_record.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kEnd = 16384;  // bytes of events.jsonl that hold the last two log periods

double number_of(const Json& json) { return json.is_number() ? json.get<double>() : std::nan(""); }

double number_at(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found == event.end() ? std::nan("") : number_of(*found);
}

/// A step of an event; -1 of what is none.
std::int64_t whole_step(double step) {
  constexpr double kMost = 9e15;  // above it doubles are not all whole numbers
  return step >= 0 && step < kMost ? std::llround(step) : -1;
}

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

/// "train/loss": what has a split is a value; the others say where it is.
bool is_value(const std::string& key, const Json& json) {
  return (key.find('/') != std::string::npos || key == "samples_per_second") &&
         (json.is_number() || json.is_null());
}

std::vector<std::string> texts(const Json& json) {
  std::vector<std::string> all;
  for (const auto& text : json) all.push_back(text.is_string() ? text.get<std::string>() : "");
  return all;
}

/// A square table counts what was taken for what.
NamedTable table_of(const Json& json) {
  NamedTable table;
  const auto name = json.value("name", std::string());
  table.name = name.substr(0, name.rfind('.'));
  table.file = name.substr(std::min(name.size(), name.rfind('.') + 1));
  table.rows = texts(json.value("rows", Json::array()));
  table.columns = texts(json.value("columns", Json::array()));
  table.kind = table.rows == table.columns ? NamedTable::Kind::confusion : NamedTable::Kind::scores;
  table.corner = table.kind == NamedTable::Kind::confusion ? "true \\ predicted" : "class";
  for (const auto& row : json.value("cells", Json::array()))
    for (const auto& cell : row) table.cells.push_back(number_of(cell));
  if (table.cells.size() != table.rows.size() * table.columns.size()) return {};
  return table;
}

void take_tables(RunHistory& run, const Json& event, const ScoredWeights& weights) {
  run.tables.clear();
  const auto tables = event.find("tables");
  if (tables == event.end() || !tables->is_array()) return;
  for (const auto& json : *tables) {
    if (!json.is_object()) continue;
    auto table = table_of(json);
    table.weights = weights;
    if (!table.rows.empty()) run.tables.push_back(std::move(table));
  }
}

void take_evaluation(RunHistory& run, const Json& event, double step) {
  run.last.clear();
  run.last_step = whole_step(step);
  for (const auto& [key, value] : event.items()) {
    if (!is_value(key, value)) continue;
    run.last.emplace_back(key, number_of(value));
    add_point(run.evaluated, key, step, run.last.back().second);
  }
  take_tables(run, event, {"last evaluation", run.last_step});
}

/// Events of earlier versions have the step alone.
ScoredWeights weights_in(const Json& event) {
  return {event.value("weights", std::string("weights")),
          whole_step(number_at(event, "weights_step"))};
}

void take_test(RunHistory& run, const Json& event) {
  run.test.clear();
  for (const auto& [key, value] : event.items())
    if (is_value(key, value)) run.test.emplace_back(key, number_of(value));
  run.test_weights = weights_in(event);
}

void take_step(RunHistory& run, const Json& event, double step) {
  for (const auto& [key, value] : event.items())
    if (is_value(key, value)) add_point(run.steps, key, step, number_of(value));
  if (const auto rate = number_at(event, "samples_per_second"); rate > 0)
    run.samples_per_second = rate;
}

void take_warning(RunHistory& run, const Json& event) {
  const auto text = without_secrets(event.value("text", std::string()));
  const bool known =
      std::find(run.warnings.begin(), run.warnings.end(), text) != run.warnings.end();
  if (!known && run.warnings.size() < 1000) run.warnings.push_back(text);
}

/// Each start of a run ends with the seconds of its own phases.
void take_phases(RunHistory& run, const Json& event) {
  const auto phases = event.find("phase_seconds");
  if (phases == event.end() || !phases->is_object()) return;
  for (const auto& [name, seconds] : phases->items()) {
    auto found = std::find_if(run.phases.begin(), run.phases.end(),
                              [&, &phase = name](const auto& each) { return each.first == phase; });
    if (found == run.phases.end()) found = run.phases.insert(found, {name, 0});
    found->second += number_of(seconds);
  }
}

void take(RunHistory& run, const Json& event) {
  const auto kind = event.value("event", std::string());
  const auto step = number_at(event, "step");
  if (!std::isfinite(step)) return;
  run.step = kind == "resume" ? step : std::max(run.step, step);
  if (kind == "resume") drop_after(run.steps, step), drop_after(run.evaluated, step);
  if (kind == "step") take_step(run, event, step);
  if (kind == "evaluation") take_evaluation(run, event, step);
  if (kind == "result") take_tables(run, event, weights_in(event));
  if (kind == "test") take_test(run, event);
  if (kind == "warning") take_warning(run, event);
  if (kind == "end") take_phases(run, event);
}

Json event_in(std::string_view line) { return Json::parse(line, nullptr, false); }

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
std::optional<Json> placed_event(std::string_view line) {
  auto event = event_in(line);
  if (!event.is_object() || !std::isfinite(number_at(event, "step"))) return {};
  return event;
}

void take_place(RunProgress& progress, const Json& event) {
  progress.step = number_at(event, "step");
  if (const auto time = event.find("time"); time != event.end() && time->is_string())
    progress.time = utc_seconds(time->get<std::string>());
}

/// Seconds a step, from the two last log periods; NaN where there are not two.
double pace_of(const std::vector<std::string>& lines) {
  double step = std::nan(""), seconds = std::nan("");
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    const auto event = placed_event(*line);
    if (!event || !std::isfinite(number_at(*event, "seconds"))) continue;
    const auto earlier = number_at(*event, "step");
    if (step > earlier) return (seconds - number_at(*event, "seconds")) / (step - earlier);
    step = earlier;
    seconds = number_at(*event, "seconds");
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
    if (!std::exchange(is_placed, true)) take_place(progress, *event);
    // A run that is resumed may have become longer or shorter than it was.
    if (const auto total = number_at(*event, "total_steps"); total > 0) {
      progress.total_steps = total;
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
    const auto event = event_in(std::string_view(text).substr(at, end - at));
    try {
      if (event.is_object())
        take(history, event);
      else if (end > at)
        ++history.torn;
    } catch (const nlohmann::json::exception&) {  // a key of another type than ours
      ++history.torn;
    }
    at = end + 1;
  }
  return history;
}

RunProgress read_progress(const std::string& folder, bool is_running) {
  try {
    return progress_in(split(ends_of(InputFile(folder + "/events.jsonl")), '\n'), is_running);
  } catch (const Error&) {  // a file that cannot be read tells nothing
    return {};
  }
}

}  // namespace ddptrain
