// Gradients of parameters from a node of our own, without a node of LibTorch for each parameter,
// which costs as much as a small layer.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// Whether add_gradient may be used: a leaf, dense and contiguous, that learns.
bool takes_gradient(const at::Tensor& parameter);

/// Whether a node that does so gives it all that autograd would.
inline bool is_constant_or_takes_gradient(const at::Tensor& parameter) {
  return !parameter.defined() || !parameter.requires_grad() || takes_gradient(parameter);
}

/// What autograd's AccumulateGrad does in a backward pass: adds a gradient, contiguous and of no
/// other use, to that of a parameter, and calls the hook that is set on it.
void add_gradient(const at::Tensor& parameter, at::Tensor gradient);

}  // namespace ddptrain
