// Convolutions of maps that are not much larger than their kernel.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// The share of a convolution's products that are with its padding, of 0 to 1: of `height` x
/// `width` pixels, a kernel of an odd size, stride 1 and the padding that keeps the size.
double share_of_padding(std::int64_t height, std::int64_t width, std::int64_t kernel);

/// conv2d of [rows, in, height, width] and [out, in, kernel, kernel] on the CPU, of one
/// floating-point type, with an odd kernel, stride 1 and the padding that keeps the size; `bias`
/// may be undefined. A matrix product for each tap of the kernel and line of the map, without the
/// padding, which oneDNN computes too. The sums are in another order than oneDNN's.
at::Tensor small_convolution(const at::Tensor& input, const at::Tensor& weight,
                             const at::Tensor& bias);

}  // namespace ddptrain
