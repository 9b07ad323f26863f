#include "train/run_state.h"

namespace ddptrain {

void put(const RunState& state, SavedState& saved) {
  const auto& [position, nominal, lr_factor, loss_scale, best, stop, evaluation] = state;
  saved.position = position;
  saved.nominal = nominal;
  saved.lr_factor = lr_factor;
  saved.loss_scale.reset();
  if (loss_scale)
    saved.loss_scale = SavedLossScale{loss_scale->scale(), loss_scale->finite_steps()};
  saved.best = best;
  saved.stop = stop;
  saved.evaluation = evaluation;
}

RunState run_state_of(const SavedState& saved) {
  RunState state;
  auto& [position, nominal, lr_factor, loss_scale, best, stop, evaluation] = state;
  position = saved.position;
  nominal = saved.nominal;
  lr_factor = saved.lr_factor;
  if (saved.loss_scale)
    loss_scale.emplace().load({saved.loss_scale->scale, saved.loss_scale->finite_steps});
  best = saved.best;
  stop = saved.stop;
  evaluation = saved.evaluation;
  return state;
}

void move_on(Position& at, std::int64_t steps_per_epoch) {
  ++at.step;
  if (++at.step_in_epoch < steps_per_epoch) return;
  at.step_in_epoch = 0;
  at.bad_in_epoch = 0;
  ++at.epoch;
}

}  // namespace ddptrain
