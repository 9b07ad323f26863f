// Gradients times a number that only their device knows.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace ddptrain {

/// Multiplies gradients of one type and device in place by `factor` (one double there), in one pass
/// that also looks whether they were finite: `overflow` (one float there) becomes 1 where one was
/// not. Nothing waits for the device.
void scale_gradients(const std::vector<at::Tensor>& gradients, const at::Tensor& factor,
                     at::Tensor& overflow);

}  // namespace ddptrain
