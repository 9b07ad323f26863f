#include "models/language/conv1d.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "models/operators/biased_product.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kTile = 16;  // a multiple of the sides of a BLAS's tiles

std::int64_t short_of_tiles(std::int64_t size) { return (kTile - size % kTile) % kTile; }

/// input weight + bias in whole tiles: what is left of those a BLAS adds up in another order, so
/// that the last bit of a row would depend on its place.
at::Tensor product_in_tiles(const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias) {
  const auto rows = input.size(0), outputs = weight.size(1);
  const auto more_rows = short_of_tiles(rows), more_outputs = short_of_tiles(outputs);
  if (!input.is_cpu() || (more_rows == 0 && more_outputs == 0))
    return biased_product(input, weight, bias);
  const auto filled = more_rows > 0 ? at::constant_pad_nd(input, {0, 0, 0, more_rows}) : input;
  if (more_outputs == 0) return at::addmm(bias, filled, weight).narrow(0, 0, rows);
  return at::addmm(at::constant_pad_nd(bias, {0, more_outputs}), filled,
                   at::constant_pad_nd(weight, {0, more_outputs}))
      .narrow(0, 0, rows)
      .narrow(1, 0, outputs)
      .contiguous();
}

}  // namespace

Conv1d::Conv1d(std::int64_t in, std::int64_t out)
    : weight_(parameter("weight", at::empty({in, out}))),
      bias_(parameter("bias", at::zeros({out}))) {}

at::Tensor Conv1d::forward(const at::Tensor& input, const Pass&) {
  auto sizes = input.sizes().vec();
  sizes.back() = weight_.size(1);
  return product_in_tiles(input.reshape({-1, weight_.size(0)}), weight_, bias_).view(sizes);
}

}  // namespace ddptrain
