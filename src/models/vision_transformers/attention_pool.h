// SigLIP's pooling (Zhai et al. 2023): a learned query attends to all patches; timm's
// AttentionPoolLatent.
#pragma once

#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/norm.h"
#include "models/layers/transformer.h"

namespace ddptrain {

struct AttentionPoolShape {
  std::int64_t heads = 1;  // divides features
  TransformerMlpShape mlp;
  double norm_eps = 1e-6;
};

/// [rows, places, features] to [rows, features]: attention of the query `latent` to all places,
/// and a residual two-layer network.
class AttentionPool final : public Module {
 public:
  AttentionPool(const AttentionPoolShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  std::int64_t heads_;
  at::Tensor latent_;
  Linear *q_, *kv_, *proj_;
  LayerNorm* norm_;
  Sequence* mlp_;
};

}  // namespace ddptrain
