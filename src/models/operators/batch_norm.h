// Batch norm with what follows it: the sum with a residual, and ReLU.
#pragma once

#include <ATen/core/Tensor.h>

#include <tuple>

namespace ddptrain {

/// What follows a batch norm: nothing, or relu(normalized + residual).
struct NormEnd {
  bool relu = false;
  at::Tensor residual = {};  // undefined: none; only with `relu`
};

/// Arguments of a batch norm other than its input.
struct NormTerms {
  at::Tensor weight = {}, bias = {};  // may be undefined
  // Training moves them and does not read them; else it normalizes so.
  at::Tensor mean = {}, variance = {};
  bool training = false;
  double momentum = 0, eps = 1e-5;
};

/// batch_norm(input), or relu(batch_norm(input) + residual), for an input that has values;
/// differentiable in input, weight, bias and residual. One operator forward and one backward on
/// every device (ddptrain::batch_norm, ddptrain::batch_norm_backward), whose parts a device without
/// kernels of its own takes one after another (..._in_parts). On CUDA it is computed in
/// single precision (double: in double) and rounded once. The backward pass keeps the input and the
/// output; the residual's gradient is ReLU's.
at::Tensor batch_norm(const at::Tensor& input, const NormEnd& end, const NormTerms& terms);

/// The operator itself, not differentiable: output, mean and 1 / sqrt(variance + eps) of the batch
/// (empty where `training` is false).
std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_op(const at::Tensor& input,
                                                             const NormEnd& end,
                                                             const NormTerms& terms);

}  // namespace ddptrain
