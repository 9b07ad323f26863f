// The operators of ddptrain (library `ddptrain` of LibTorch's dispatcher) on CUDA, one kernel each.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

// Rows have positions of their own only where bad samples were left out.
at::Tensor on_device(at::IntArrayRef positions, at::Device device) {
  if (positions.empty()) return {};
  return at::tensor(positions, at::kLong).pin_memory().to(device, /*non_blocking=*/true);
}

at::Tensor dropout(const at::Tensor& given, double p, std::int64_t key, std::int64_t step,
                   std::int64_t first_row, at::IntArrayRef positions, std::int64_t elements,
                   const std::optional<at::Tensor>& step_there) {
  const c10::DeviceGuard guard(given.device());
  if (given.numel() == 0) return at::empty_like(given);
  const auto input = dropout_takes(given, elements) ? given : given.contiguous();
  const auto output = at::empty_like(input);
  auto arguments =
      dropout_arguments(input, {p, static_cast<std::uint64_t>(key), step, first_row, elements});
  if (step_there)
    arguments.step_there = reinterpret_cast<const long long*>(step_there->const_data_ptr());
  const auto rows = on_device(positions, input.device());
  const void* from = input.const_data_ptr();
  void* to = output.mutable_data_ptr();
  const void* numbers = rows.defined() ? rows.const_data_ptr() : nullptr;
  void* all[] = {&from, &to, &numbers, &arguments};
  const auto type_name = kernel_type(input.scalar_type());
  launch_kernel({dropout_text(), type_name, "dropout_" + type_name},
                arguments.rows * arguments.repeats * ((arguments.elements + 3) / 4), all);
  return output;
}

using Maybe = std::optional<at::Tensor>;

template <class T>
const T* numbers_of(const Maybe& tensor) {
  return tensor ? tensor->const_data_ptr<T>() : nullptr;
}

at::Tensor normalize_images(const at::Tensor& pixels, const Maybe& boxes, const Maybe& partners,
                            const Maybe& partner_boxes, const Maybe& mixes,
                            const at::Tensor& factor, const at::Tensor& offset, const Maybe& fill,
                            at::ScalarType type) {
  const c10::DeviceGuard guard(pixels.device());
  const auto output =
      at::empty(pixels.sizes(), pixels.options().dtype(type), pixels.suggest_memory_format());
  if (pixels.numel() == 0) return output;
  auto arguments = normalize_arguments(pixels, boxes ? boxes->size(1) : 0);
  NormalizePlanes planes{factor.const_data_ptr<float>(),
                         offset.const_data_ptr<float>(),
                         numbers_of<float>(fill),
                         numbers_of<int>(boxes),
                         numbers_of<std::uint8_t>(partners),
                         numbers_of<int>(partner_boxes),
                         numbers_of<float>(mixes)};
  const void* from = pixels.const_data_ptr();
  void* to = output.mutable_data_ptr();
  void* all[] = {&from, &to, &planes, &arguments};
  const auto type_name = kernel_type(type);
  launch_kernel({normalize_images_text(), type_name, "normalize_images_" + type_name},
                (pixels.numel() + 3) / 4, all);
  return output;
}

at::Tensor& add_relu(at::Tensor& residual, const at::Tensor& input) {
  const c10::DeviceGuard guard(residual.device());
  if (!add_relu_takes(residual, input)) return at::relu_(residual.add_(input));
  if (residual.numel() == 0) return residual;
  void* to = residual.mutable_data_ptr();
  const void* from = input.const_data_ptr();
  long long count = residual.numel();
  int vectors = reads_fours(residual) && reads_fours(input);
  void* all[] = {&to, &from, &count, &vectors};
  const auto type_name = kernel_type(residual.scalar_type());
  launch_kernel({add_relu_text(), type_name, "add_relu_" + type_name}, (residual.numel() + 3) / 4,
                all);
  return residual;
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) {
  m.impl("add_relu_", &add_relu);
  m.impl("dropout", &dropout);
  m.impl("normalize_images", &normalize_images);
}

}  // namespace
}  // namespace ddptrain
