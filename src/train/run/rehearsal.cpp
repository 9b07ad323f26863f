#include "train/run/rehearsal.h"

#include "base/error.h"
#include "optim/ema.h"
#include "train/build/build.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"
#include "train/step/generated_samples.h"
#include "train/training.h"
#include "train/transfer/initial_weights.h"

namespace ddptrain {
namespace {

TrainingPlan rehearsal_plan(const Job& job) {
  TrainingPlan plan{job.recipe, job.placement};
  if (seconds_of(plan.recipe)) plan.recipe.train.duration = steps(1);
  plan.most_steps = 1;
  plan.evaluation_batches = 1;
  return plan;
}

void rehearse_in(World& world, const Job& job, Hooks hooks) {
  agree(world, "the recipe", job.recipe_text);
  if (hooks.beat) hooks.beat(0, "building");
  const auto training = build(rehearsal_plan(job), world);
  start_from_weights(*training);
  if (training->ema) training->ema->update();  // begun, so that its end is rehearsed too
  hooks.checkpoints = job.folder + "/checkpoints";
  const auto samples = job.make_samples ? job.make_samples(*training) : nullptr;
  hooks.samples = samples.get();
  auto state = first_state(*training);
  train(*training, state, hooks);
  if (world.rank != 0) return;
  std::vector<std::string> notes;
  const auto saved = newest_checkpoint(hooks.checkpoints, notes);
  DDP_CHECK(saved, "a checkpoint that was verified is not there");
  restore(*training, load_checkpoint(*saved));
}

}  // namespace

void rehearse(const Job& job, const Topology& topology, const Hooks& hooks) {
  prepare_process(job.recipe, job.placement);
  in_world(job.recipe, job.placement, topology,
           [&](World& world) { rehearse_in(world, job, hooks); });
}

}  // namespace ddptrain
