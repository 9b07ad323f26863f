// The last layer of a model whose outputs would be too many to hold at once: a score for each token
// of a vocabulary, at each place.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// hidden [..., width] times weight [classes, width] transposed, plus bias [classes]. A soft cap
/// c > 0 makes c * tanh(z / c) of a score z. The tensors are the model's parameters. Undefined
/// weight: the model has no such layer.
struct Projection {
  at::Tensor weight = {};
  at::Tensor bias = {};  // may be undefined
  double soft_cap = 0;
  explicit operator bool() const { return weight.defined(); }
};

/// Scores with the soft cap of a projection, where it has one.
at::Tensor capped(const at::Tensor& scores, const Projection& projection);

/// Scores [..., classes] of hidden [..., width], in the graph.
at::Tensor project(const at::Tensor& hidden, const Projection& projection);

}  // namespace ddptrain
