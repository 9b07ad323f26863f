// How large the gradients of a step are.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ddptrain {

/// The p-norm of all entries of all tensors (not none) as one vector, without dimensions, on their
/// device.
at::Tensor gradient_norm(const std::vector<at::Tensor>& gradients, double p = 2);

}  // namespace ddptrain
