// Batch norm with the ReLU after it, and the sum with a residual before that.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ddptrain {

/// What follows a batch norm: nothing, or relu(normalized + residual).
struct NormEnd {
  bool relu = false;
  at::Tensor residual = {};  // undefined: none
};

/// Arguments of a batch norm other than its input.
struct NormTerms {
  at::Tensor weight, bias;    // may be undefined
  at::Tensor mean, variance;  // training moves them and does not read them; else it normalizes so
  bool training = false;
  double momentum = 0, eps = 1e-5;
};

/// relu(batch_norm(input) + residual) for an input that has values; differentiable in input,
/// weight, bias and residual. One operator on every device (ddptrain::batch_norm_relu), computed in
/// single precision (double: in double) and rounded once on CUDA. Its backward pass keeps the input
/// and the output, and is that of relu, whose result is the residual's gradient, and LibTorch's of
/// batch norm.
at::Tensor batch_norm_relu(const at::Tensor& input, const at::Tensor& residual,
                           const NormTerms& terms);

/// The operator itself, not differentiable: output, mean and 1 / sqrt(variance + eps) of the batch
/// (empty where `training` is false).
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_relu_op(const at::Tensor& input,
                                                                  const at::Tensor& residual,
                                                                  const NormTerms& terms);

}  // namespace ddptrain
