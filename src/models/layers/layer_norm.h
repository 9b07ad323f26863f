// torch.nn.LayerNorm over the last axis.
#pragma once

#include "models/module.h"

namespace ddptrain {

/// Parameters `weight` and `bias`; [rows, ..., features] to the same.
class LayerNorm final : public Module {
 public:
  explicit LayerNorm(std::int64_t features, double eps = 1e-5);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  bool is_norm() const override { return true; }

 private:
  at::Tensor weight_, bias_;
  double eps_;
};

}  // namespace ddptrain
