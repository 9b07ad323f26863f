#include "train/loop/call.h"

#include "callbacks/best.h"
#include "train/loop/completion.h"

namespace ddptrain {

void call(const Callbacks& callbacks, Moment moment, const RunView& view, RunState& state,
          const Recipe& recipe) {
  RunControl control;
  if (state.stop) control.stop = state.stop->reason;
  control.lr_factor = state.lr_factor;
  for (const auto& callback : callbacks) callback->at(moment, view, control);
  state.lr_factor = control.lr_factor;
  if (!control.stop || (state.stop && state.stop->reason == *control.stop)) return;
  state.stop = Stop{*control.stop, asked_length(recipe)};
}

bool note_best(RunState& state, const RunView& view, const Recipe& recipe) {
  const auto& keep = recipe.checkpoint.keep_best;
  if (!keep) return false;
  Best best(keep->mode.value.value_or(BestMode::max));
  if (state.best) best.restore(state.best->value);
  const auto value = monitored(view, keep->metric, "checkpoint.keep_best.metric");
  if (!best.improves(value)) return false;
  state.best = {value, state.position.step};
  return true;
}

}  // namespace ddptrain
