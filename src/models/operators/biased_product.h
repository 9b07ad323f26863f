// A matrix product with a bias.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// input weight + bias, of [rows, in], [in, out] and [out]; torch's addmm, under autocast of its
/// type too. On accelerators the gradient of the bias is one operator of our own
/// (ddptrain::column_sums), since LibTorch's sum over rows reads at half the memory's speed.
at::Tensor biased_product(const at::Tensor& input, const at::Tensor& weight,
                          const at::Tensor& bias);

}  // namespace ddptrain
