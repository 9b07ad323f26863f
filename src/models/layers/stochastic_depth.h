// Stochastic depth (Huang et al. 2016): torchvision.ops.StochasticDepth in its mode "row".
#pragma once

#include "models/module.h"

namespace ddptrain {

/// In training drops each row with probability p in 0 .. 1 and scales the others by 1 / (1 - p);
/// which ones follows from the Pass's seed, step and row and the module's path.
class StochasticDepth final : public Module {
 public:
  explicit StochasticDepth(double p) : p_(p) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  double p_;
};

}  // namespace ddptrain
