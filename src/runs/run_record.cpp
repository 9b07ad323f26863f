#include "runs/run_record.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "recipe/run_folders.h"
#include "runs/metrics_csv.h"
#include "runs/run_folder.h"
#include "runs/run_json.h"
#include "runs/run_scores.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kLongestRecord = std::size_t{16} << 20;

double seconds_at(const std::optional<std::string>& time) { return utc_seconds(time.value_or("")); }

class Facts {
 public:
  void add(const char* title, const std::optional<std::string>& text) {
    if (text && !text->empty()) facts.emplace_back(title, *text);
  }
  template <class Number>
  void add(const char* title, const std::optional<Number>& number) {
    if (number) facts.emplace_back(title, std::to_string(*number));
  }
  NamedTexts facts;
};

NamedTexts facts_of(const RunJson& run) {
  Facts all;
  all.add("started", run.started);
  all.add("ended", run.ended);
  all.add("exit code", run.exit_code);
  all.add("seed", run.seed);
  all.add("device", run.device);
  all.add("ranks", run.ranks);
  all.add("replicas", run.replicas);
  all.add("threads per rank", run.threads);
  all.add("ranks exchange through", run.transport);
  all.add("host", run.host);
  all.add("ddptrain", run.ddptrain);
  all.add("LibTorch", run.torch);
  all.add("compiler", run.compiler);
  all.add("digest of the data", run.data_digest);
  if (!run.attempts.empty())
    all.facts.emplace_back("earlier attempts", std::to_string(run.attempts.size()));
  return all.facts;
}

/// What one start took: as it measured it, else by its two times, which are whole seconds.
RunDuration duration_of_start(const EarlierStart& start) {
  if (start.seconds) return {*start.seconds, start.whole_seconds};
  auto from = seconds_at(start.began);
  const auto to = seconds_at(start.ended);
  if (from <= 0) from = seconds_at(start.started);
  if (from <= 0 || to < from) return {};
  return {to - from, true};
}

RunStatus state_of(const RunRecord& run) {
  if (run.exit_code && *run.exit_code == 0)
    return run.result == "paused" ? RunStatus::interrupted : RunStatus::done;
  if (run.result == "interrupted" || run.result == "paused") return RunStatus::interrupted;
  if (run.exit_code) return RunStatus::failed;
  return is_locked(run.folder) ? RunStatus::running : RunStatus::killed;
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

RunDuration earlier_of(const RunJson& file) {
  RunDuration earlier;
  for (const auto& start : file.attempts) {
    const auto took = duration_of_start(start);
    if (std::isnan(took.seconds)) continue;
    earlier.seconds = took.seconds + (earlier.seconds > 0 ? earlier.seconds : 0);
    earlier.whole = earlier.whole || took.whole;
  }
  return earlier;
}

RunRecord run_record(const std::string& folder, const RunJson& file) {
  RunRecord run;
  run.folder = folder;
  run.name = name_of(folder);
  run.recipe = file.name.value_or("");
  run.exit_code = file.exit_code;
  run.result = file.result.value_or("");
  run.metrics = file.metrics;
  run.evaluated = file.evaluated.value_or(-1);
  run.best = file.best;
  run.began = seconds_at(file.began);
  run.ended = seconds_at(file.ended);
  run.earlier = earlier_of(file);
  EarlierStart last;
  last.started = file.started;
  last.began = file.began;
  last.ended = file.ended;
  last.seconds = file.seconds;
  run.own = duration_of_start(last);
  run.facts = facts_of(file);
  run.status = state_of(run);
  if (!run.metrics.empty()) return run;
  // A run that did not come to write them.
  if (auto row = last_metrics(folder)) {
    run.evaluated = row->step;
    run.metrics = std::move(row->scores);
  }
  return run;
}

RunRecord read_run_record(const std::string& folder) {
  const auto name = std::string(kRunJson), file = folder + "/" + name;
  std::string damage;
  try {
    if (const auto run = run_json_of(read_text(file, kLongestRecord)))
      return run_record(folder, *run);
    damage = name + " cannot be read";
  } catch (const Error& error) {
    damage = fs::exists(file) ? error.what() : name + " is missing";
  }
  RunRecord torn;
  torn.folder = folder;
  torn.name = name_of(folder);
  torn.damage = std::move(damage);
  return torn;
}

RunRecord read_run(const std::string& folder) {
  auto run = read_run_record(folder);
  run.progress = read_progress(folder, run.status == RunStatus::running);
  return run;
}

void add_recipe(RunRecord& run, RecipeReader& recipes) {
  run.options = recipes.options_of(run.folder);
  run.scores = scores_of(run);
  if (run.recipe.empty()) run.recipe = option_value(run.options, "name");
}

const char* status_name(RunStatus status) {
  constexpr const char* kNames[] = {"done",    "interrupted", "failed",
                                    "running", "killed",      "unknown"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string status_text(const RunRecord& run) {
  const auto text = run.result.empty() ? status_name(run.status) : run.result;
  if (run.status == RunStatus::failed)
    return fmt::format("{}, exit code {}", text, run.exit_code.value_or(0));
  const bool ended = run.status == RunStatus::done || run.status == RunStatus::interrupted;
  return ended ? text : status_name(run.status);
}

bool is_finished(const RunRecord& run) {
  return run.status != RunStatus::running &&
         (run.result == "done" || run.result.starts_with("stopped"));
}

RunDuration duration_of(const RunRecord& run) {
  auto duration = run.own;
  if (std::isnan(duration.seconds)) {
    const bool running = run.status == RunStatus::running;
    const double until = running ? static_cast<double>(std::time(nullptr)) : run.progress.time;
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
  return whole == 0 ? "under 1 s" : fmt::format("{} s", whole);
}

bool is_run(const std::string& folder) {
  std::error_code none;
  return holds_run(folder) || (fs::is_regular_file(folder + "/" + kRecipeYaml, none) &&
                               fs::is_directory(folder + "/checkpoints", none));
}

double utc_seconds(const std::string& text) {
  std::tm time{};
  return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time)
             ? static_cast<double>(::timegm(&time))
             : 0;
}

}  // namespace ddptrain
