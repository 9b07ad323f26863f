// The largest number of each window of an image.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// Square windows. `ceil`: a window may stick out at the end, so that ceil(n / stride) are left.
struct PoolWindow {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  bool ceil = false;
};

/// torch's max_pool2d of [rows, channels, height, width]: the first of equal numbers gets the
/// gradient, NaN is the largest. In channels_last accelerators take one operator of our own for a
/// pass (ddptrain::max_pool), others LibTorch's.
at::Tensor max_pool(const at::Tensor& input, const PoolWindow& window);

}  // namespace ddptrain
