#include "models/text/transformer_encoder.h"

#include "models/layers/chain.h"
#include "models/recompute.h"

namespace ddptrain {

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerEncoderShape& shape,
                                                 const at::Generator& generator)
    : activation_(shape.activation) {
  const MultiHeadAttentionShape attention{shape.features, shape.heads, shape.dropout};
  self_attn_ = make<MultiHeadAttention>("self_attn", attention, generator);
  linear1_ = make<Linear>("linear1", shape.features, shape.hidden, generator);
  dropout_ = make<Dropout>("dropout", shape.dropout);
  linear2_ = make<Linear>("linear2", shape.hidden, shape.features, generator);
  norm1_ = make<LayerNorm>("norm1", shape.features);
  norm2_ = make<LayerNorm>("norm2", shape.features);
  dropout1_ = make<Dropout>("dropout1", shape.dropout);
  dropout2_ = make<Dropout>("dropout2", shape.dropout);
}

at::Tensor TransformerEncoderLayer::encode(const at::Tensor& input, const at::Tensor& padded,
                                           const Pass& pass) {
  const auto attended = self_attn_->attend(norm1_->forward(input, pass), padded, pass);
  const auto x = input.add(dropout1_->forward(attended, pass));
  const auto hidden = activate(activation_, linear1_->forward(norm2_->forward(x, pass), pass));
  const auto out = linear2_->forward(dropout_->forward(hidden, pass), pass);
  return x.add(dropout2_->forward(out, pass));
}

at::Tensor TransformerEncoderLayer::forward(const at::Tensor& input, const Pass& pass) {
  return encode(input, {}, pass);
}

TransformerEncoder::TransformerEncoder(const TransformerEncoderShape& shape,
                                       const at::Generator& generator) {
  auto* layers = make<Sequence>("layers");
  for (std::int64_t i = 0; i < shape.layers; ++i)
    layers_.push_back(layers->add<TransformerEncoderLayer>(shape, generator));
  norm_ = make<LayerNorm>("norm", shape.features);
}

at::Tensor TransformerEncoder::encode(const at::Tensor& input, const at::Tensor& padded,
                                      const Pass& pass) {
  auto x = input;
  for (auto* layer : layers_)
    x = run_block(*layer, x, pass, [layer, padded](const at::Tensor& given, const Pass& again) {
      return layer->encode(given, padded, again);
    });
  return norm_->forward(x, pass);
}

at::Tensor TransformerEncoder::forward(const at::Tensor& input, const Pass& pass) {
  return encode(input, {}, pass);
}

}  // namespace ddptrain
