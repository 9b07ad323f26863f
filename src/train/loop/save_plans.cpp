#include "train/loop/save_plans.h"

#include "distributed/world.h"
#include "train/loop/loop.h"
#include "train/run_state.h"
#include "train/training.h"

namespace ddptrain {

SavePlan shared_save(const Training& t, const RunState& state, const Hooks& hooks) {
  const auto& spec = t.recipe.checkpoint;
  SavePlan plan{hooks.checkpoints, spec.keep_last, {}, {spec.file_size.bytes, spec.files.value}};
  if (state.best) plan.best_step = state.best->step;
  return plan;
}

SavePlan local_save(const Training& t, const Hooks& hooks) {
  const auto& spec = t.recipe.checkpoint;
  return {hooks.local_checkpoints, spec.keep_last, {}, {spec.file_size.bytes, {}, true}};
}

std::optional<Period> locally_every(const Training& t, const Hooks& hooks) {
  const auto& local = t.recipe.checkpoint.local;
  if (!local || hooks.local_checkpoints.empty()) return {};
  return Period(local->every, t.length);
}

Group* saving_group(const World& world, bool at_once) {
  if (world.size == 1) return nullptr;
  return at_once ? world.control.get() : world.saving.get();
}

}  // namespace ddptrain
