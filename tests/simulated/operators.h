// The operators of the simulated device: the CPU's, on copies, after what CUDA would ask of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

namespace ddptrain::simulated {

using at::Tensor;
using Tensors = std::vector<Tensor>;

/// Is an operator that comes now to be kept in a graph?
bool is_captured(int device);
/// What an operator gives on a tensor's device, now or at each replay.
Tensors computed(const Tensor& on, const std::function<Tensors()>& operation);

}  // namespace ddptrain::simulated
