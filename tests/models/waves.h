// Weights and inputs that any library can make, so that its outputs can be compared with ours.
#pragma once

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>

#include <cmath>

#include "models/module.h"

namespace ddptrain::test {

/// sin(n (0.37 + 0.001 n) + phase) for n from 0.
inline at::Tensor wave(at::IntArrayRef shape, std::int64_t numbers, double phase) {
  const auto n = at::arange(numbers, at::kDouble);
  return n.mul(0.001).add(0.37).mul(n).add(phase).sin().view(shape);
}

/// Parameter k is a wave of phase k: sqrt(3 / fan) high where it has two or more dimensions, else
/// 0.1, and around 1 for the scales of norms.
inline void fill_with_waves(const Module& model) {
  const at::NoGradGuard no_grad;
  double phase = 0;
  for (const auto& [name, tensor] : model.named_parameters()) {
    const auto fan = static_cast<double>(tensor.numel() / tensor.size(0));
    const double height = tensor.dim() > 1 ? std::sqrt(3 / fan) : 0.1;
    const double middle = tensor.dim() == 1 && name.ends_with("weight") ? 1 : 0;
    tensor.copy_(wave(tensor.sizes(), tensor.numel(), phase).mul(height).add(middle));
    phase += 1;
  }
}

}  // namespace ddptrain::test
