#include "models/layers/transformer.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "models/layers/initialize.h"

namespace ddptrain {

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionShape& shape,
                                       const at::Generator& generator)
    : shape_(shape) {
  const auto features = shape.features;
  in_proj_weight_ = parameter("in_proj_weight", at::empty({3 * features, features}));
  in_proj_bias_ = parameter("in_proj_bias", at::zeros({3 * features}));
  out_proj_ = make<Linear>("out_proj", features, features, generator);
  dropout_ = make<Dropout>("dropout", shape.dropout);
  initialize::xavier_uniform(in_proj_weight_, generator);
  initialize::constant(out_proj_->bias(), 0);
}

at::Tensor MultiHeadAttention::forward(const at::Tensor& input, const Pass& pass) {
  return attend(input, {}, pass);
}

at::Tensor MultiHeadAttention::attend(const at::Tensor& input, const at::Tensor& padded,
                                      const Pass& pass) {
  const auto rows = input.size(0), places = input.size(1), features = input.size(2);
  const auto projected = at::linear(input, in_proj_weight_, in_proj_bias_)
                             .reshape({rows, places, 3, shape_.heads, features / shape_.heads})
                             .permute({2, 0, 3, 1, 4});
  const auto seen =
      padded.defined() ? padded.logical_not().view({rows, 1, 1, places}) : at::Tensor();
  const auto heads = mix_values(
      {projected.select(0, 0), projected.select(0, 1), projected.select(0, 2)}, seen, pass);
  return out_proj_->forward(heads.transpose(1, 2).reshape({rows, places, features}), pass);
}

// The fused kernel draws its dropout from torch's generator, so dropout takes the long way.
at::Tensor MultiHeadAttention::mix_values(const Heads& heads, const at::Tensor& seen,
                                          const Pass& pass) {
  const auto& [query, key, value] = heads;
  const bool drops = pass.training && shape_.dropout > 0;
  if (!drops && query.size(0) > 0)
    return at::scaled_dot_product_attention(query, key, value,
                                            seen.defined() ? std::optional(seen) : std::nullopt);
  const auto scale = 1 / std::sqrt(static_cast<double>(query.size(3)));
  auto scores = at::matmul(query.mul(scale), key.transpose(2, 3));
  if (seen.defined())
    scores = scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
  return at::matmul(dropout_->forward(scores.softmax(-1), pass), value);
}

std::unique_ptr<Sequence> transformer_mlp(const TransformerMlpShape& shape,
                                          const at::Generator& generator) {
  auto mlp = std::make_unique<Sequence>();
  const auto* first = mlp->add<Linear>(shape.features, shape.hidden, generator);
  mlp->add<Activate>(shape.activation);
  mlp->add<Dropout>(shape.dropout);
  const auto* second = mlp->add<Linear>(shape.hidden, shape.features, generator);
  mlp->add<Dropout>(shape.dropout);
  for (const auto* linear : {first, second}) {
    initialize::xavier_uniform(linear->weight(), generator);
    initialize::normal(linear->bias(), 1e-6, generator);
  }
  return mlp;
}

}  // namespace ddptrain
