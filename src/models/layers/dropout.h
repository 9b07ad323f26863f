// Dropout and stochastic depth, whose choices do not depend on how the batch is sharded.
#pragma once

#include "models/module.h"
#include "models/operators/dropout_mask.h"

namespace ddptrain {

/// torch.nn.Dropout: in training drops each element with probability p in 0 .. 1 and scales the
/// others by 1 / (1 - p); which ones follows from the Pass's seed, step and row and the module's
/// path.
class Dropout final : public Module {
 public:
  explicit Dropout(double p) : p_(p) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  double p() const { return p_; }
  /// Those of a pass.
  MaskRows masks(const Pass& pass, std::int64_t rows, std::int64_t elements) const;

 private:
  double p_;
};

/// Stochastic depth (Huang et al. 2016), torchvision.ops.StochasticDepth in its mode "row": in
/// training drops each row with probability p in 0 .. 1 and scales the others by 1 / (1 - p);
/// which ones follows from the Pass's seed, step and row and the module's path.
class StochasticDepth final : public Module {
 public:
  explicit StochasticDepth(double p) : p_(p) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  double p_;
};

}  // namespace ddptrain
