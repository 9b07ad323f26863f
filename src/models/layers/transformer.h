// The two halves of a transformer block: attention (Vaswani et al. 2017) and the network behind it.
#pragma once

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"

namespace ddptrain {

struct MultiHeadAttentionShape {
  std::int64_t features = 0;
  std::int64_t heads = 1;  // divides features
  double dropout = 0;      // of the attention weights
};

/// torch.nn.MultiheadAttention of a sequence to itself, rows first: [rows, places, features] to the
/// same. Parameters `in_proj_weight` (query, key and value one
/// below the other), `in_proj_bias`, `out_proj.weight` and `out_proj.bias`.
class MultiHeadAttention final : public Module {
 public:
  MultiHeadAttention(const MultiHeadAttentionShape& shape, const at::Generator& generator);
  /// Places where `padded` (bool [rows, places]) are seen by none; a row must have another. None is
  /// where it is undefined.
  at::Tensor attend(const at::Tensor& input, const at::Tensor& padded, const Pass& pass);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  std::vector<at::Tensor> autocast_parameters() const override {
    return {in_proj_weight_, in_proj_bias_};
  }

 private:
  struct Heads {
    at::Tensor query, key, value;  // [rows, heads, places, features / heads]
  };
  at::Tensor mix_values(const Heads& heads, const at::Tensor& seen, const Pass& pass);

  MultiHeadAttentionShape shape_;
  at::Tensor in_proj_weight_, in_proj_bias_;
  Linear* out_proj_;
  Dropout* dropout_;
};

struct TransformerMlpShape {
  std::int64_t features = 0;
  std::int64_t hidden = 0;
  double dropout = 0;
  Activation activation = Activation::gelu;
};

/// torchvision.ops.MLP: Linear, the activation, Dropout, Linear, Dropout, with Xavier's first
/// weights: [rows, ..., features] to the same.
std::unique_ptr<Sequence> transformer_mlp(const TransformerMlpShape& shape,
                                          const at::Generator& generator);

}  // namespace ddptrain
