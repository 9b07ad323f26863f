// What callbacks ask for and evaluations find, kept in the state of a run.
#pragma once

#include "callbacks/callback.h"
#include "recipe/recipe.h"
#include "train/run_state.h"

namespace ddptrain {

/// Calls each of them. The factor of the learning rate that they ask for, and the reason to stop,
/// are kept in `state`.
void call(const Callbacks& callbacks, Moment moment, const RunView& view, RunState& state,
          const Recipe& recipe);

/// Whether the evaluation in `view` is the best so far by `checkpoint.keep_best`; `state` keeps it
/// then.
bool note_best(RunState& state, const RunView& view, const Recipe& recipe);

}  // namespace ddptrain
