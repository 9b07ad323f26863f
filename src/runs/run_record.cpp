#include "runs/run_record.h"

#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestRecord = std::size_t{16} << 20;

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

NamedValues values_at(const Json& json, const char* key) {
  NamedValues values;
  const auto found = json.find(key);
  if (found == json.end() || !found->is_object()) return values;
  for (const auto& [name, value] : found->items())
    values.emplace_back(name, value.is_number() ? value.get<double>() : std::nan(""));
  return values;
}

std::optional<BestEvaluation> best_in(const Json& json) {
  const auto found = json.find("best");
  if (found == json.end() || !found->is_object()) return {};
  BestEvaluation best{text_at(*found, "metric"), BestMode::max, 0, values_at(*found, "metrics")};
  if (best.metric.empty()) return {};
  if (text_at(*found, "mode") == "min") best.mode = BestMode::min;
  if (const auto step = found->find("step"); step != found->end() && step->is_number())
    best.step = step->get<std::int64_t>();
  return best;
}

NamedTexts facts_in(const Json& json) {
  constexpr std::pair<const char*, const char*> kFacts[] = {{"started", "started"},
                                                            {"ended", "ended"},
                                                            {"exit_code", "exit code"},
                                                            {"seed", "seed"},
                                                            {"device", "device"},
                                                            {"ranks", "ranks"},
                                                            {"replicas", "replicas"},
                                                            {"threads", "threads per rank"},
                                                            {"host", "host"},
                                                            {"ddptrain", "ddptrain"},
                                                            {"torch", "LibTorch"},
                                                            {"compiler", "compiler"},
                                                            {"data_digest", "digest of the data"}};
  NamedTexts facts;
  for (const auto& [key, title] : kFacts)
    if (const auto found = json.find(key);
        found != json.end() && found->is_primitive() && !found->is_null())
      facts.emplace_back(title, found->is_string() ? found->get<std::string>() : found->dump());
  const auto attempts = json.find("attempts");
  if (attempts != json.end() && attempts->is_array() && !attempts->empty())
    facts.emplace_back("earlier attempts", std::to_string(attempts->size()));
  return facts;
}

/// What one start took: as it measured it, else by its two times, which are whole seconds.
RunDuration duration_in(const Json& json) {
  const auto whole = json.find("whole_seconds");
  if (const auto seconds = json.find("seconds"); seconds != json.end() && seconds->is_number())
    return {seconds->get<double>(), whole != json.end() && *whole == true};
  auto from = utc_seconds(text_at(json, "began"));
  const auto to = utc_seconds(text_at(json, "ended"));
  if (from <= 0) from = utc_seconds(text_at(json, "started"));
  if (from <= 0 || to < from) return {};
  return {to - from, true};
}

void take_durations(RunRecord& run, const Json& json) {
  run.own = duration_in(json);
  const auto attempts = json.find("attempts");
  if (attempts == json.end() || !attempts->is_array()) return;
  for (const auto& attempt : *attempts) {
    if (!attempt.is_object()) continue;
    const auto took = duration_in(attempt);
    if (std::isnan(took.seconds)) continue;
    run.earlier.seconds = took.seconds + (run.earlier.seconds > 0 ? run.earlier.seconds : 0);
    run.earlier.whole = run.earlier.whole || took.whole;
  }
}

RunStatus state_of(const RunRecord& run) {
  if (run.exit_code && *run.exit_code == 0)
    return run.result == "paused" ? RunStatus::interrupted : RunStatus::done;
  if (run.result == "interrupted" || run.result == "paused") return RunStatus::interrupted;
  if (run.exit_code) return RunStatus::failed;
  return FileLock::is_taken(run.folder + "/.lock") ? RunStatus::running : RunStatus::killed;
}

void take(RunRecord& run, const Json& json) {
  run.recipe = text_at(json, "name");
  run.result = text_at(json, "result");
  if (const auto code = json.find("exit_code"); code != json.end() && code->is_number_integer())
    run.exit_code = code->get<int>();
  run.metrics = values_at(json, "metrics");
  if (const auto step = json.find("evaluated"); step != json.end() && step->is_number_integer())
    run.evaluated = step->get<std::int64_t>();
  run.best = best_in(json);
  run.began = utc_seconds(text_at(json, "began"));
  run.ended = utc_seconds(text_at(json, "ended"));
  take_durations(run, json);
  run.facts = facts_in(json);
  run.status = state_of(run);
}

/// Of a run that did not come to write them: the last row of metrics.csv, which holds no quotes.
void take_last_evaluation(RunRecord& run) {
  const auto file = run.folder + "/metrics.csv";
  std::error_code none;
  if (!fs::exists(file, none)) return;
  const auto text = read_text(file);
  const auto end = text.rfind('\n');  // the last line may be torn
  if (end == std::string::npos) return;
  const auto lines = split(text.substr(0, end), '\n');
  const auto names = split(lines.front(), ','), cells = split(lines.back(), ',');
  if (lines.size() < 2 || names.size() != cells.size() || names[0] != "step") return;
  run.evaluated = parse_integer(cells[0]).value_or(-1);
  for (std::size_t i = 1; i < names.size(); ++i)
    if (names[i].find('/') != std::string::npos && !names[i].starts_with("train/"))
      if (const auto value = parse_number(cells[i])) run.metrics.emplace_back(names[i], *value);
}

/// "quickstart/003" of any way to write the path, and of a link to it.
std::string name_of(const std::string& folder) {
  std::error_code none;
  auto path = fs::absolute(folder, none).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (fs::is_symlink(path, none)) path = fs::canonical(path, none);
  return path.parent_path().filename().string() + "/" + path.filename().string();
}

}  // namespace

RunRecord read_run_record(const std::string& folder) {
  RunRecord run;
  run.folder = folder;
  run.name = name_of(folder);
  const auto file = folder + "/run.json";
  try {
    const auto json = Json::parse(read_text(file, kLongestRecord), nullptr, false);
    if (json.is_object())
      take(run, json);
    else
      run.damage = "run.json cannot be read";
  } catch (const Error& error) {
    run.damage = fs::exists(file) ? error.what() : "run.json is missing";
  }
  if (run.damage.empty() && run.metrics.empty()) take_last_evaluation(run);
  return run;
}

const char* status_name(RunStatus status) {
  constexpr const char* kNames[] = {"done",    "interrupted", "failed",
                                    "running", "killed",      "unknown"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string status_text(const RunRecord& run) {
  const auto text = run.result.empty() ? status_name(run.status) : run.result;
  if (run.status == RunStatus::failed)
    return text + ", exit code " + std::to_string(run.exit_code.value_or(0));
  const bool ended = run.status == RunStatus::done || run.status == RunStatus::interrupted;
  return ended ? text : status_name(run.status);
}

bool is_finished(const RunRecord& run) {
  return run.status != RunStatus::running &&
         (run.result == "done" || run.result.starts_with("stopped"));
}

RunDuration duration_of(const RunRecord& run, double last_event) {
  auto duration = run.own;
  if (std::isnan(duration.seconds)) {
    const bool running = run.status == RunStatus::running;
    const double until = running ? static_cast<double>(std::time(nullptr)) : last_event;
    if (run.began <= 0 || until < run.began) return {};
    duration = {until - run.began, true};
  }
  if (std::isnan(run.earlier.seconds)) return duration;
  return {duration.seconds + run.earlier.seconds, duration.whole || run.earlier.whole};
}

std::string to_text(const RunDuration& duration) {
  if (std::isnan(duration.seconds)) return {};
  const auto whole = std::llround(duration.seconds);
  if (!duration.whole || whole >= 60) return format_seconds(duration.seconds);
  return whole == 0 ? "under 1 s" : std::to_string(whole) + " s";
}

bool is_run(const std::string& folder) {
  std::error_code none;
  return fs::is_regular_file(folder + "/run.json", none) ||
         (fs::is_regular_file(folder + "/recipe.yaml", none) &&
          fs::is_directory(folder + "/checkpoints", none));
}

double utc_seconds(const std::string& text) {
  std::tm time{};
  return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time)
             ? static_cast<double>(::timegm(&time))
             : 0;
}

}  // namespace ddptrain
