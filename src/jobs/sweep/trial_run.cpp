#include "jobs/sweep/trial_run.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/problems.h"
#include "jobs/job.h"
#include "jobs/saved_run.h"
#include "jobs/series.h"
#include "recipe/load/load.h"
#include "recipe/run_folders.h"
#include "runs/metrics_csv.h"
#include "runs/run_folder.h"
#include "train/catalogs.h"
#include "train/loop/loop.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

int begin_trial(const TrialRun& run, Loaded& loaded, const Arguments& arguments) {
  auto job = make_job_on(run.part, loaded.recipe, loaded.tree);
  job.folder = run.folder;
  job.pause = run.pause;
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.start.holds_secrets = reported(loaded.problems, "literal-secret");
  const HeldSignals held;
  make_run_folder_at(run.folder, job.start);
  const auto lock = lock_run(run.folder);
  return start_job(job, {}, arguments.level);
}

/// As `resume` does, with the devices that this start gives it.
int continue_trial(const TrialRun& run, const Loaded& loaded, const Arguments& arguments) {
  const auto lock = lock_run(run.folder);
  auto saved = open_run(run.folder, {});
  const auto checkpoint = checkpoint_to_resume(newest_of(run.folder));
  saved.recipe.parallel.devices = loaded.recipe.parallel.devices;
  auto job = make_job_on(run.part, saved.recipe, saved.tree);
  job.folder = run.folder;
  job.pause = run.pause;
  job.checkpoint = checkpoint;
  job.start = run_start(job, arguments, {});
  return start_job(job, {}, arguments.level);
}

/// "step-00000740" is step 740.
std::int64_t steps_made(const std::string& folder) {
  std::vector<std::string> unused;
  const auto newest = newest_checkpoint(folder + "/checkpoints", unused);
  if (!newest) return 0;
  const auto name = fs::path(*newest).filename().string();
  const auto digits = name.substr(std::min(name.size(), name.find('-') + 1));
  return static_cast<std::int64_t>(parse_number(digits).value_or(0));
}

}  // namespace

int train_trial(const TrialRun& run, const Arguments& arguments) {
  auto loaded = load_recipe(run.files, run.overrides, all_catalogs());
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  // A start that was killed before this had no run.
  return holds_run(run.folder) ? continue_trial(run, loaded, arguments)
                               : begin_trial(run, loaded, arguments);
}

RunValue value_of(const std::string& folder, int code, const WatchedMetric& watched) {
  RunValue value;
  value.code = code;
  value.value = value.best = std::nan("");
  value.ended = true;
  if (!holds_run(folder)) return value;
  auto end = run_end(folder);
  RecipeReader recipe;
  add_recipe(end, recipe);
  value.steps = steps_made(folder);
  value.ended = end.result != kPaused;
  if (code == static_cast<int>(Exit::done) || code == static_cast<int>(Exit::expect))
    value.value = value_named(end.scores.values, watched.name);
  if (const auto best = best_evaluation(folder, watched)) {
    value.best = value_named(best->values, watched.name);
    value.best_step = best->step;
  }
  return value;
}

std::optional<RunValue> ended_value(const std::string& folder, const WatchedMetric& watched) {
  if (!holds_run(folder)) return {};
  const auto end = run_end(folder);
  if (!end.exit_code || !is_result(*end.exit_code) || end.result == kPaused) return {};
  return value_of(folder, *end.exit_code, watched);
}

}  // namespace ddptrain
