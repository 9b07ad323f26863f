// ddptrain::max_pool and its backward pass on CUDA.
#include <ATen/native/Pool.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <tuple>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/in_parts.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

using TwoTensors = std::tuple<at::Tensor, at::Tensor>;

TwoTensors pool_on_cuda(const at::Tensor& input, std::int64_t kernel, std::int64_t stride,
                        std::int64_t padding, bool ceil) {
  const c10::DeviceGuard guard(input.device());
  if (!max_pool_takes(input, kernel)) {
    static const auto parts = in_parts("ddptrain::max_pool_in_parts", &pool_on_cuda);
    return parts.call(input, kernel, stride, padding, ceil);
  }
  const auto side = [&](std::int64_t size) {
    return at::native::pooling_output_shape<std::int64_t>(size, kernel, padding, stride, 1, ceil);
  };
  const auto output =
      at::empty({input.size(0), input.size(1), side(input.size(2)), side(input.size(3))},
                input.options(), at::MemoryFormat::ChannelsLast);
  const auto places = at::empty_like(output, output.options().dtype(at::kByte));
  auto arguments = max_pool_arguments(input, output, kernel, stride, padding);
  const void* from = input.const_data_ptr();
  void* to = output.mutable_data_ptr();
  void* at = places.mutable_data_ptr();
  void* all[] = {&from, &to, &at, &arguments};
  const auto type = kernel_type(input.scalar_type());
  launch_kernel({max_pool_text(), type, "max_pool_forward_" + type}, output.numel() / 4, all);
  return {output, places};
}

at::Tensor pool_backward_on_cuda(const at::Tensor& given, const at::Tensor& input,
                                 const at::Tensor& places, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t padding, bool ceil) {
  const c10::DeviceGuard guard(input.device());
  if (places.scalar_type() != at::kByte) {
    static const auto parts =
        in_parts("ddptrain::max_pool_backward_in_parts", &pool_backward_on_cuda);
    return parts.call(given, input, places, kernel, stride, padding, ceil);
  }
  const auto whole = given.contiguous(at::MemoryFormat::ChannelsLast);
  const auto gradient = reads_fours(whole) ? whole : whole.clone();
  const auto result = at::empty_like(input);
  auto arguments = max_pool_arguments(input, gradient, kernel, stride, padding);
  const void* from = gradient.const_data_ptr();
  const void* at = places.const_data_ptr();
  void* to = result.mutable_data_ptr();
  void* all[] = {&from, &at, &to, &arguments};
  const auto type = kernel_type(input.scalar_type());
  launch_kernel({max_pool_text(), type, "max_pool_backward_" + type}, input.numel() / 4, all);
  return result;
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) {
  m.impl("max_pool", &pool_on_cuda);
  m.impl("max_pool_backward", &pool_backward_on_cuda);
}

}  // namespace
}  // namespace ddptrain
