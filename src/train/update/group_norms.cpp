#include "train/update/group_norms.h"

#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "optim/clip.h"
#include "optim/optimizer.h"

namespace ddptrain {
namespace {

/// Of one layer group, whichever parameter groups its parameters are in.
struct LayerGroup {
  std::vector<at::Tensor> gradients, weights;
};

std::vector<LayerGroup> by_layer(const Optimizer& optimizer) {
  std::vector<LayerGroup> layers;
  for (const auto& group : optimizer.groups()) {
    if (layers.size() <= group.layer) layers.resize(group.layer + 1);
    auto& layer = layers[group.layer];
    for (const auto& [name, weight] : group.parameters) {
      layer.weights.push_back(weight.detach());
      if (weight.grad().defined()) layer.gradients.push_back(weight.grad());
    }
  }
  return layers;
}

at::Tensor norm_of(const std::vector<at::Tensor>& tensors, const at::TensorOptions& options,
                   const SharedGradients& shared) {
  if (tensors.empty()) return at::full({}, std::numeric_limits<double>::quiet_NaN(), options);
  return gradient_norm(tensors, 2, shared).to(at::kDouble);
}

}  // namespace

at::Tensor group_norms(const Optimizer& optimizer, const SharedGradients& shared) {
  const auto& first = optimizer.groups().front().parameters.front().tensor;
  const auto options = first.options().dtype(at::kDouble).requires_grad(false);
  std::vector<at::Tensor> gradients, weights;
  for (const auto& layer : by_layer(optimizer)) {
    gradients.push_back(norm_of(layer.gradients, options, shared));
    weights.push_back(norm_of(layer.weights, options, shared));
  }
  return at::stack({at::stack(gradients), at::stack(weights)});
}

NamedValues named_norms(const at::Tensor& norms) {
  const auto* value = norms.const_data_ptr<double>();
  NamedValues named;
  for (const char* of : {"train/gradient_norm/", "train/weight_norm/"})
    for (std::int64_t layer = 0; layer < norms.size(1); ++layer, ++value)
      if (!std::isnan(*value)) named.emplace_back(of + std::to_string(layer), *value);
  return named;
}

}  // namespace ddptrain
