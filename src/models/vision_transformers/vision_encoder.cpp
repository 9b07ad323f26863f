#include "models/vision_transformers/vision_encoder.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>

#include "models/layers/initialize.h"
#include "models/layers/transformer.h"
#include "models/recompute.h"

namespace ddptrain {
namespace {

class EncoderBlock final : public Module {
 public:
  EncoderBlock(const VisionEncoderShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  bool is_block() const override { return true; }

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass);
  at::Tensor layer_scale_1_, layer_scale_2_;  // undefined: none
  LayerNorm *ln_1_, *ln_2_;
  MultiHeadAttention* self_attention_;
  Dropout* dropout_;
  Sequence* mlp_;
};

EncoderBlock::EncoderBlock(const VisionEncoderShape& shape, const at::Generator& generator) {
  const MultiHeadAttentionShape attention{shape.features, shape.heads, shape.attention_dropout};
  const TransformerMlpShape mlp{shape.features, shape.hidden, shape.dropout, shape.activation};
  if (shape.layer_scale) {
    layer_scale_1_ = parameter("layer_scale_1", at::full({shape.features}, *shape.layer_scale));
    layer_scale_2_ = parameter("layer_scale_2", at::full({shape.features}, *shape.layer_scale));
  }
  ln_1_ = make<LayerNorm>("ln_1", shape.features, shape.norm_eps);
  self_attention_ = make<MultiHeadAttention>("self_attention", attention, generator);
  dropout_ = make<Dropout>("dropout", shape.dropout);
  ln_2_ = make<LayerNorm>("ln_2", shape.features, shape.norm_eps);
  mlp_ = child("mlp", transformer_mlp(mlp, generator));
}

at::Tensor EncoderBlock::forward(const at::Tensor& input, const Pass& pass) {
  return run_block(*this, input, pass, [this](const at::Tensor& given, const Pass& again) {
    return compute(given, again);
  });
}

at::Tensor EncoderBlock::compute(const at::Tensor& input, const Pass& pass) {
  const auto scaled = [](const at::Tensor& added, const at::Tensor& scale) {
    return scale.defined() ? added.mul(scale) : added;
  };
  const auto first = ln_1_->of_sum(input, {});
  const auto attended = self_attention_->forward(first.normalized, pass);
  const auto second =
      ln_2_->of_sum(first.sum, scaled(dropout_->forward(attended, pass), layer_scale_1_));
  return second.sum.add(scaled(mlp_->forward(second.normalized, pass), layer_scale_2_));
}

}  // namespace

VisionEncoder::VisionEncoder(const VisionEncoderShape& shape, const at::Generator& generator) {
  pos_embedding_ = parameter("pos_embedding", at::empty({1, shape.places, shape.features}));
  initialize::normal(pos_embedding_, 0.02, generator);
  dropout_ = make<Dropout>("dropout", shape.dropout);
  if (shape.pre_norm) ln_pre_ = make<LayerNorm>("ln_pre", shape.features, shape.norm_eps);
  layers_ = make<Sequence>("layers");
  for (std::int64_t i = 0; i < shape.layers; ++i)
    layers_->append(fmt::format("encoder_layer_{}", i),
                    std::make_unique<EncoderBlock>(shape, generator));
  ln_ = make<LayerNorm>("ln", shape.features, shape.norm_eps);
}

at::Tensor VisionEncoder::encode(const at::Tensor& tokens, const at::Tensor& patches,
                                 const Pass& pass) {
  const bool of_patches = pos_embedding_.size(1) == patches.size(1);
  auto x = of_patches ? patches.add(pos_embedding_) : patches;
  if (tokens.defined()) x = at::cat({tokens, x}, 1);
  if (!of_patches) x = x.add(pos_embedding_);
  x = dropout_->forward(x, pass);
  if (ln_pre_ != nullptr) x = ln_pre_->forward(x, pass);
  return ln_->forward(layers_->forward(x, pass), pass);
}

}  // namespace ddptrain
