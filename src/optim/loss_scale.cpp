// The factor that keeps float16 gradients above zero: torch.amp.GradScaler's arithmetic.
#include "optim/loss_scale.h"

#include <cmath>

namespace ddptrain {

void LossScale::update(bool finite) {
  if (!finite) {
    scale_ = static_cast<float>(scale_ * options_.backoff);  // torch keeps a float
    finite_steps_ = 0;
    return;
  }
  if (++finite_steps_ < options_.growth_interval) return;
  finite_steps_ = 0;
  const auto grown = static_cast<float>(scale_ * options_.growth);
  if (std::isfinite(grown)) scale_ = grown;
}

}  // namespace ddptrain
