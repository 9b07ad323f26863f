#include "models/dropout.h"

#include "base/random.h"
#include "models/dropout_mask.h"

namespace ddptrain {

at::Tensor Dropout::forward(const at::Tensor& input, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  const MaskRows rows{mix(pass.seed, hash_text(path())), pass.step, pass.first_row, input.size(0),
                      input.numel() / input.size(0)};
  const double scale = p_ < 1 ? 1 / (1 - p_) : 0;
  const auto mask = input.is_cpu()
                        ? dropout_mask(rows, p_, scale, input.scalar_type())
                        : dropout_mask_on(input.device(), rows, p_, scale, input.scalar_type());
  return input.mul(mask.reshape(input.sizes()));
}

}  // namespace ddptrain
