#include "jobs/verify/short_run.h"

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "callbacks/writers.h"
#include "checkpoint/checkpoint.h"
#include "distributed/world.h"
#include "jobs/job.h"
#include "jobs/start.h"
#include "launch/signals.h"
#include "runs/events_jsonl.h"
#include "train/build/build.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"
#include "train/step/evaluate.h"
#include "train/training.h"

namespace ddptrain {
namespace {

/// The first of those that the recipe names, else as many as the machine has.
Devices first_devices(const Devices& given, std::int64_t count) {
  Devices devices;
  if (std::ssize(given.ids) >= count)
    devices.ids.assign(given.ids.begin(), given.ids.begin() + count);
  else
    devices.count = count;
  return devices;
}

/// Steps instead of seconds, after which no two runs would end at the same step.
void count_steps(Recipe& recipe, std::int64_t longest) {
  if (!seconds_of(recipe)) return;
  auto& stages = recipe.train.stages;
  (stages.empty() ? recipe.train.duration : stages[0].duration) =
      steps(static_cast<double>(longest));
}

Job short_job(const ShortRunPlan& plan, const RunCut& cut, const ShortRun& run) {
  auto recipe = cut_recipe(plan, cut);
  auto job = make_job(recipe, plan.tree, {});
  job.folder = run.folder;
  return job;
}

void score_in(World& world, const Job& job, const ShortRun& run) {
  const auto checkpoint = load_checkpoint(run.checkpoint);
  TrainingPlan plan{job.recipe, job.placement, saved_data(checkpoint)};
  plan.trains = false;
  const auto training = build(plan, world);
  restore_weights(*training, checkpoint);
  const auto found = evaluate(*training);
  if (world.rank != 0) return;
  std::string text;
  for (const auto& [name, value] : found.values) text += name + " " + format_number(value) + "\n";
  for (const auto& table : found.tables) write_table(run.folder, table);
  write_atomically(run.folder + "/scores.txt", text);
}

}  // namespace

std::string precision_name(Precision precision) {
  return std::string(names(precision)[static_cast<std::size_t>(precision)]);
}

Recipe cut_recipe(const ShortRunPlan& plan, const RunCut& cut) {
  auto recipe = plan.recipe;
  recipe.parallel.mode = cut.mode;
  recipe.parallel.devices = first_devices(plan.recipe.parallel.devices, cut.devices);
  if (!has_devices(cut.mode)) recipe.parallel.sync_bn = {};
  recipe.batch = {};
  recipe.batch.global = plan.global;
  recipe.batch.accumulate = cut.accumulate;
  recipe.train.precision = cut.precision;
  if (cut.precision == Precision::fp64) recipe.eval.precision = {};
  recipe.train.threads = plan.threads;
  count_steps(recipe, plan.longest);
  recipe.checkpoint.keep_best.reset();
  recipe.checkpoint.local.reset();
  recipe.eval.samples.reset();
  recipe.log.every = steps(1);
  recipe.log.tensorboard = recipe.output.report = false;
  return recipe;
}

int train_short(const ShortRunPlan& plan, const RunCut& cut, const ShortRun& run,
                const Arguments& arguments) {
  auto job = short_job(plan, cut, run);
  if (run.keeps_gradients || !run.follows.empty()) job.recipe.train.graph = false;
  job.pause = steps(static_cast<double>(run.until));
  if (!run.checkpoint.empty()) job.checkpoint = run.checkpoint;
  job.start = run_start(job, arguments, {});
  make_run_folder_at(job.folder, job.start);
  const auto rank_main = [&](const Topology& topology, Hooks hooks) {
    hooks.evaluate = false;
    if (run.keeps_gradients) hooks.gradients = keep_gradients(run.folder);
    if (!run.follows.empty())
      hooks.gradients = follow_gradients(run.folder, run.follows, run.weights);
    const auto ending = run_rank(job, topology, hooks);
    const int signal = ending.signal;
    return signal ? 128 + signal : 0;
  };
  return start_ranks(job.recipe, job.placement, {}, rank_main,
                     {log::Level::quiet, job.folder, &job.tree});
}

int score_short(const ShortRunPlan& plan, const RunCut& cut, const ShortRun& run) {
  const auto job = short_job(plan, cut, run);
  make_folders(job.folder);
  const auto rank_main = [&](const Topology& topology, const Hooks&) {
    prepare_process(job.recipe, job.placement);
    in_world(job.recipe, job.placement, topology, [&](World& world) { score_in(world, job, run); });
    return 0;
  };
  return start_ranks(job.recipe, job.placement, {}, rank_main,
                     {log::Level::quiet, job.folder, &job.tree});
}

std::vector<TracedStep> traced_steps(const std::string& folder) {
  std::vector<TracedStep> traced;
  for (const auto& event : read_events(folder))
    if (event.kind == "step" && event.step)
      traced.push_back({*event.step, value_named(event.values, "train/loss"),
                        value_named(event.values, "train/gradient_norm")});
  return traced;
}

std::string checkpoint_in(const std::string& folder) {
  const auto complete = list_checkpoints(folder + "/checkpoints");  // readers verify them
  if (complete.empty()) throw Error(Exit::bug, "a short run left no checkpoint in '{}'", folder);
  return complete.back();
}

}  // namespace ddptrain
