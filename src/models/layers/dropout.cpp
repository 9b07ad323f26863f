#include "models/layers/dropout.h"

#include "base/random.h"

namespace ddptrain {
namespace {

std::uint64_t module_key(const Module& module, const Pass& pass) {
  return mix(pass.seed, hash_text(module.path()));
}

}  // namespace

at::Tensor Dropout::forward(const at::Tensor& input, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  const auto rows = input.size(0);
  return drop(input, masks(pass, rows, input.numel() / rows), p_);
}

MaskRows Dropout::masks(const Pass& pass, std::int64_t rows, std::int64_t elements) const {
  return mask_rows(pass, module_key(*this, pass), rows, elements);
}

at::Tensor StochasticDepth::forward(const at::Tensor& input, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  return drop(input, mask_rows(pass, module_key(*this, pass), input.size(0), 1), p_);
}

}  // namespace ddptrain
