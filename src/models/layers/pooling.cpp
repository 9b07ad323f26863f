#include "models/layers/pooling.h"

#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/tensor.h>

#include <limits>

#include "models/layers/constant.h"

namespace ddptrain {

at::Tensor MaxPool::forward(const at::Tensor& input, const Pass&) {
  return max_pool(input, window_);
}

at::Tensor AveragePool::forward(const at::Tensor& input, const Pass&) {
  return at::avg_pool2d(input, window_.kernel, window_.stride, window_.padding, window_.ceil);
}

at::Tensor MaxBlurPool::forward(const at::Tensor& input, const Pass&) {
  const auto channels = input.size(1);
  const auto odd_height = input.size(2) % 2, odd_width = input.size(3) % 2;
  const auto whole = odd_height + odd_width == 0
                         ? input
                         : at::constant_pad_nd(input, {0, odd_width, 0, odd_height},
                                               -std::numeric_limits<double>::infinity());
  const auto maxima = max_pool(whole, {.kernel = 2, .stride = 1});
  if (blur_.defined() && blur_.size(0) != channels) blur_.reset();
  keep_constant(blur_, maxima, [channels] {
    const auto line = at::tensor({0.25, 0.5, 0.25}, at::kDouble);
    return line.outer(line).expand({channels, 1, 3, 3});
  });
  return at::conv2d(maxima, blur_, {}, 2, 1, 1, channels);
}

at::Tensor AdaptiveAveragePool::forward(const at::Tensor& input, const Pass&) {
  return at::adaptive_avg_pool2d(input, {size_, size_});
}

at::Tensor Flatten::forward(const at::Tensor& input, const Pass&) {
  return input.flatten(1);  // right for 0 rows too
}

}  // namespace ddptrain
