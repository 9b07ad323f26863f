// The two parts of torchvision's Swin transformer (Liu et al. 2021), on maps with channels last.
#pragma once

#include "models/layers/chain.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/vision_transformers/shifted_window_attention.h"

namespace ddptrain {

struct SwinBlockShape {
  WindowAttentionShape attention;
  std::int64_t hidden = 0;  // of the two-layer network
  double stochastic_depth = 0;
};

/// [rows, height, width, features] to the same: attention in windows, then the two-layer network,
/// each a residual branch with the norm before it. Both drop elements by `attention.dropout`.
class SwinBlock final : public Module {
 public:
  SwinBlock(const SwinBlockShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  bool is_block() const override { return true; }

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass);
  LayerNorm *norm1_, *norm2_;
  ShiftedWindowAttention* attn_;
  StochasticDepth *stochastic_depth1_, *stochastic_depth2_;
  Sequence* mlp_;
};

/// [rows, height, width, features] to [rows, height / 2, width / 2, 2 features], sizes rounded up.
class PatchMerging final : public Module {
 public:
  PatchMerging(std::int64_t features, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  Linear* reduction_;
  LayerNorm* norm_;
};

}  // namespace ddptrain
