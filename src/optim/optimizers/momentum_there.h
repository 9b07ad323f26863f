// Adam and SGD whose momentum a schedule moves, on a device: torch's fused steps take it from the
// host alone, and a graph could not follow it.
#pragma once

#include <vector>

#include "optim/optimizers/steps.h"

namespace ddptrain {

/// at::_fused_adam_, or at::_fused_adamw_ where the decay is `decoupled`, with the rate, beta1 and
/// the number of the step read from the device (u.rate_there, u.momentum_there, `step`): one kernel
/// for a list of tensors.
struct AdamTerms {
  double beta2 = 0.999, eps = 1e-8;
  bool amsgrad = false, maximize = false, decoupled = false;
};
void adam_step(const Update& u, const at::Tensor& step, const AdamTerms& terms);

/// at::_fused_sgd_ with momentum, likewise; the decay is L2's.
struct SgdTerms {
  double weight_decay = 0, dampening = 0;
  bool nesterov = false, maximize = false;
};
void sgd_step(const Update& u, const SgdTerms& terms);

}  // namespace ddptrain
