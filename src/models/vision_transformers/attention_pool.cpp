#include "models/vision_transformers/attention_pool.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <cmath>

#include "models/layers/initialize.h"

namespace ddptrain {

AttentionPool::AttentionPool(const AttentionPoolShape& shape, const at::Generator& generator)
    : heads_(shape.heads) {
  const auto features = shape.mlp.features;
  latent_ = parameter("latent", at::empty({1, 1, features}));
  initialize::truncated_normal(latent_, 1 / std::sqrt(static_cast<double>(features)), generator);
  q_ = make<Linear>("q", features, features, generator);
  kv_ = make<Linear>("kv", features, 2 * features, generator);
  proj_ = make<Linear>("proj", features, features, generator);
  for (const auto* linear : {q_, kv_, proj_}) {
    initialize::xavier_uniform(linear->weight(), generator);
    initialize::constant(linear->bias(), 0);
  }
  norm_ = make<LayerNorm>("norm", features, shape.norm_eps);
  mlp_ = child("mlp", transformer_mlp(shape.mlp, generator));
}

at::Tensor AttentionPool::forward(const at::Tensor& input, const Pass& pass) {
  const auto rows = input.size(0), places = input.size(1), features = input.size(2);
  const auto size = features / heads_;
  const auto query = q_->forward(latent_, pass)
                         .view({1, 1, heads_, size})
                         .transpose(1, 2)
                         .expand({rows, -1, -1, -1});
  const auto both =
      kv_->forward(input, pass).reshape({rows, places, 2, heads_, size}).permute({2, 0, 3, 1, 4});
  const auto key = both.select(0, 0), value = both.select(0, 1);
  const auto scale = 1 / std::sqrt(static_cast<double>(size));
  const auto found =
      rows > 0 ? at::scaled_dot_product_attention(query, key, value)
               : at::matmul(at::matmul(query.mul(scale), key.transpose(2, 3)).softmax(-1), value);
  const auto x = proj_->forward(found.transpose(1, 2).reshape({rows, features}), pass);
  return x.add(mlp_->forward(norm_->forward(x, pass), pass));
}

}  // namespace ddptrain
