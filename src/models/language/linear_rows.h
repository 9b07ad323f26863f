// Matrix products of a few rows on the CPU, for models that write text: what a row gets is the same
// to the last bit whatever the other rows are, and all rows share one reading of the weights.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// rows [n, in] times weight [out, in] transposed, plus bias [out] (may be undefined), [n, out].
/// Without a graph. On other devices, and of other types than float and double, at::linear of one
/// row after the other.
at::Tensor linear_rows(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias);

/// The same with a weight [in, out], as GPT-2's Conv1D has it.
at::Tensor conv1d_rows(const at::Tensor& rows, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace ddptrain
