// The sum with a residual and layer norm after it, as blocks of transformers have them.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// Layer norm (Ba et al. 2016) over the last axis.
struct LayerNormTerms {
  at::Tensor weight, bias;  // [features]
  double eps = 1e-5;
};

struct ResidualNorm {
  at::Tensor sum;         // the residual stream, of the input's type
  at::Tensor normalized;  // where autocast is on and the device is no CPU: of autocast's type
};

/// input + branch, and the layer norm of that; of the input alone where `branch` is undefined. For
/// products alone, which under autocast take numbers of its type: they get the bits of a layer norm
/// in fp32 that is rounded to that type. One operator on every device
/// (ddptrain::residual_norm), whose backward pass adds the gradients of both outputs; the CPU takes
/// LibTorch's operators.
ResidualNorm residual_norm(const at::Tensor& input, const at::Tensor& branch,
                           const LayerNormTerms& terms);

}  // namespace ddptrain
