#include "models/vision_transformers/swin_block.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>

#include "models/layers/transformer.h"
#include "models/recompute.h"

namespace ddptrain {

// Two modules for stochastic depth, where torchvision calls one twice: each draws by its name.
SwinBlock::SwinBlock(const SwinBlockShape& shape, const at::Generator& generator) {
  const auto features = shape.attention.features;
  const TransformerMlpShape mlp{features, shape.hidden, shape.attention.dropout};
  norm1_ = make<LayerNorm>("norm1", features);
  attn_ = make<ShiftedWindowAttention>("attn", shape.attention, generator);
  stochastic_depth1_ = make<StochasticDepth>("stochastic_depth1", shape.stochastic_depth);
  norm2_ = make<LayerNorm>("norm2", features);
  mlp_ = child("mlp", transformer_mlp(mlp, generator));
  stochastic_depth2_ = make<StochasticDepth>("stochastic_depth2", shape.stochastic_depth);
}

at::Tensor SwinBlock::forward(const at::Tensor& input, const Pass& pass) {
  return run_block(*this, input, pass, [this](const at::Tensor& given, const Pass& again) {
    return compute(given, again);
  });
}

at::Tensor SwinBlock::compute(const at::Tensor& input, const Pass& pass) {
  const auto attended = attn_->forward(norm1_->forward(input, pass), pass);
  const auto x = input.add(stochastic_depth1_->forward(attended, pass));
  const auto changed = mlp_->forward(norm2_->forward(x, pass), pass);
  return x.add(stochastic_depth2_->forward(changed, pass));
}

PatchMerging::PatchMerging(std::int64_t features, const at::Generator& generator)
    : reduction_(
          make<Linear>("reduction", 4 * features, 2 * features, generator, LinearBias::none)),
      norm_(make<LayerNorm>("norm", 4 * features)) {}

at::Tensor PatchMerging::forward(const at::Tensor& input, const Pass& pass) {
  const auto even = at::constant_pad_nd(input, {0, 0, 0, input.size(2) % 2, 0, input.size(1) % 2});
  const auto every_second = [&](std::int64_t down, std::int64_t right) {
    return even.slice(1, down, std::nullopt, 2).slice(2, right, std::nullopt, 2);
  };
  const auto four =
      at::cat({every_second(0, 0), every_second(1, 0), every_second(0, 1), every_second(1, 1)}, 3);
  return reduction_->forward(norm_->forward(four, pass), pass);
}

}  // namespace ddptrain
