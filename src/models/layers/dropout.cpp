#include "models/layers/dropout.h"

#include "base/random.h"
#include "models/layers/dropout_mask.h"

namespace ddptrain {

at::Tensor Dropout::forward(const at::Tensor& input, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  const auto rows = mask_rows(pass, mix(pass.seed, hash_text(path())), input.size(0),
                              input.numel() / input.size(0));
  return input.mul(dropout_mask_for(input, rows, p_).reshape(input.sizes()));
}

at::Tensor StochasticDepth::forward(const at::Tensor& input, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  const auto rows = mask_rows(pass, mix(pass.seed, hash_text(path())), input.size(0), 1);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[0] = input.size(0);
  return input.mul(dropout_mask_for(input, rows, p_).view(shape));
}

}  // namespace ddptrain
