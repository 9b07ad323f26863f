// Convolutions of one pixel.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// conv2d of [rows, in, height, width] and [out, in, 1, 1] on the CPU, with stride 1 and without
/// padding and groups; `bias` may be undefined. torch's, but for the gradient of the weight: one
/// matrix product, where oneDNN takes up to twice as long on small maps. Its sums are in another
/// order than oneDNN's.
at::Tensor pointwise_convolution(const at::Tensor& input, const at::Tensor& weight,
                                 const at::Tensor& bias);

}  // namespace ddptrain
