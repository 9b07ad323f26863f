// torch.nn.MultiheadAttention of a sequence to itself, rows first (Vaswani et al. 2017).
#pragma once

#include "models/convolution.h"
#include "models/dropout.h"

namespace ddptrain {

struct MultiHeadAttentionShape {
  std::int64_t features = 0;
  std::int64_t heads = 1;  // divides features
  double dropout = 0;      // of the attention weights
};

/// [rows, places, features] to the same. Parameters `in_proj_weight` (query, key and value one
/// below the other), `in_proj_bias`, `out_proj.weight` and `out_proj.bias`.
class MultiHeadAttention final : public Module {
 public:
  MultiHeadAttention(const MultiHeadAttentionShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                    const Pass& pass);

  MultiHeadAttentionShape shape_;
  at::Tensor in_proj_weight_, in_proj_bias_;
  Linear* out_proj_;
  Dropout* dropout_;
};

}  // namespace ddptrain
