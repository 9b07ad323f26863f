// The two-layer network inside a transformer block (torchvision.ops.MLP with GELU).
#pragma once

#include "models/layers/chain.h"

namespace ddptrain {

struct TransformerMlpShape {
  std::int64_t features = 0;
  std::int64_t hidden = 0;
  double dropout = 0;
};

/// Linear, GELU, Dropout, Linear, Dropout, with Xavier's first weights: [rows, ..., features] to
/// the same.
std::unique_ptr<Sequence> transformer_mlp(const TransformerMlpShape& shape,
                                          const at::Generator& generator);

}  // namespace ddptrain
