// The factor that keeps float16 gradients above zero: torch.amp.GradScaler's arithmetic.
#include "optim/loss_scale.h"

#include <cmath>

namespace ddptrain {

void LossScale::update(bool finite) {
  if (!finite) {
    state_ = {static_cast<float>(state_.scale * options_.backoff), 0};
    return;
  }
  if (++state_.finite_steps < options_.growth_interval) return;
  state_.finite_steps = 0;
  const auto grown = static_cast<float>(state_.scale * options_.growth);  // torch keeps a float
  if (std::isfinite(grown)) state_.scale = grown;
}

}  // namespace ddptrain
