#include "models/vision/vision_encoder.h"

#include <ATen/ops/empty.h>

#include "models/layers/initialise.h"
#include "models/layers/transformer.h"

namespace ddptrain {
namespace {

constexpr double encoder_norm_eps = 1e-6;

class EncoderBlock final : public Module {
 public:
  EncoderBlock(const VisionEncoderShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  LayerNorm *ln_1_, *ln_2_;
  MultiHeadAttention* self_attention_;
  Dropout* dropout_;
  Sequence* mlp_;
};

EncoderBlock::EncoderBlock(const VisionEncoderShape& shape, const at::Generator& generator) {
  const MultiHeadAttentionShape attention{shape.features, shape.heads, shape.attention_dropout};
  ln_1_ = make<LayerNorm>("ln_1", shape.features, encoder_norm_eps);
  self_attention_ = make<MultiHeadAttention>("self_attention", attention, generator);
  dropout_ = make<Dropout>("dropout", shape.dropout);
  ln_2_ = make<LayerNorm>("ln_2", shape.features, encoder_norm_eps);
  mlp_ = child("mlp", transformer_mlp({shape.features, shape.hidden, shape.dropout}, generator));
}

at::Tensor EncoderBlock::forward(const at::Tensor& input, const Pass& pass) {
  const auto attended = self_attention_->forward(ln_1_->forward(input, pass), pass);
  const auto x = dropout_->forward(attended, pass).add(input);
  return x.add(mlp_->forward(ln_2_->forward(x, pass), pass));
}

}  // namespace

VisionEncoder::VisionEncoder(const VisionEncoderShape& shape, const at::Generator& generator) {
  pos_embedding_ = parameter("pos_embedding", at::empty({1, shape.places, shape.features}));
  initialise::normal(pos_embedding_, 0.02, generator);
  dropout_ = make<Dropout>("dropout", shape.dropout);
  layers_ = make<Sequence>("layers");
  for (std::int64_t i = 0; i < shape.layers; ++i)
    layers_->append("encoder_layer_" + std::to_string(i),
                    std::make_unique<EncoderBlock>(shape, generator));
  ln_ = make<LayerNorm>("ln", shape.features, encoder_norm_eps);
}

at::Tensor VisionEncoder::forward(const at::Tensor& input, const Pass& pass) {
  const auto x = dropout_->forward(input.add(pos_embedding_), pass);
  return ln_->forward(layers_->forward(x, pass), pass);
}

}  // namespace ddptrain
