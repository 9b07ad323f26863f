#include "models/layers/dropout.h"

#include "base/random.h"
#include "models/layers/dropout_mask.h"

namespace ddptrain {
namespace {

std::uint64_t module_key(const Module& module, const Pass& pass) {
  return mix(pass.seed, hash_text(module.path()));
}

}  // namespace

at::Tensor Dropout::forward(const at::Tensor& input, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  const auto rows = input.size(0);
  return drop(input, mask_rows(pass, module_key(*this, pass), rows, input.numel() / rows), p_);
}

at::Tensor StochasticDepth::forward(const at::Tensor& input, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  return drop(input, mask_rows(pass, module_key(*this, pass), input.size(0), 1), p_);
}

}  // namespace ddptrain
