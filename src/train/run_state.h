// Where a run stands: all that changes as it goes on, apart from what its parts learn.
#pragma once

#include <optional>

#include "optim/loss_scale.h"
#include "runs/state_json.h"

namespace ddptrain {

/// To the next step.
void move_on(Position& at, std::int64_t steps_per_epoch);

/// Everything in here is in state.json: what a resumed run has no use for does not belong here.
struct RunState {
  Position position;
  double nominal = 0;    // unit of the loss weights: the first step's total weight; 0 until then
  double lr_factor = 1;  // multiplies the schedule's rate
  std::optional<LossScale> loss_scale;  // fp16
  std::optional<BestSoFar> best;
  std::optional<Stop> stop;
  NamedValues evaluation;  // the last one
};

/// What a checkpoint keeps of it, in `saved`, and back. A member that is added to RunState does not
/// compile before both name it.
void put(const RunState& state, SavedState& saved);
RunState run_state_of(const SavedState& saved);

}  // namespace ddptrain
