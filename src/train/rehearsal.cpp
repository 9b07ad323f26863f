#include "train/rehearsal.h"

#include "base/error.h"
#include "train/build.h"
#include "train/state.h"
#include "train/weights.h"

namespace ddptrain {

namespace {

void rehearse_in(World& world, const Job& job, Hooks hooks) {
  agree(world, "the recipe", job.recipe_text);
  if (hooks.beat) hooks.beat(0, "building");
  auto recipe = job.recipe;
  if (seconds_of(recipe)) recipe.train.duration = steps(1);
  auto training = build(recipe, job.placement, world);
  start_from_weights(training);
  training.length.total = 1;
  training.evaluation_batches = 1;
  if (training.ema) training.ema->update();  // begun, so that its end is rehearsed too
  hooks.checkpoints = job.folder + "/checkpoints";
  train(training, hooks);
  if (world.rank != 0) return;
  std::vector<std::string> notes;
  const auto saved = newest_checkpoint(hooks.checkpoints, notes);
  if (!saved) throw Error(Exit::data, "the checkpoint that was written cannot be read");
  restore(training, load_checkpoint(*saved));
}

}  // namespace

void rehearse(const Job& job, const Topology& topology, const Hooks& hooks) {
  prepare_process(job.recipe, job.placement);
  in_world(job.recipe, job.placement, topology,
           [&](World& world) { rehearse_in(world, job, hooks); });
}

}  // namespace ddptrain
