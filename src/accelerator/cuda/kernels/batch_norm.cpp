// ddptrain::batch_norm_relu on CUDA: LibTorch's kernels take the statistics, one of ours does the
// rest.
#include <ATen/ops/batch_norm_update_stats.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

using MaybeTensor = std::optional<at::Tensor>;

/// Of the type in which the kernel computes.
at::Tensor plane(const MaybeTensor& values, at::ScalarType type) {
  return values && values->defined() ? values->to(type).contiguous() : at::Tensor();
}

const void* address(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

/// Of the input's type and order of memory.
at::Tensor like(const at::Tensor& input, const MaybeTensor& residual) {
  if (!residual || !residual->defined()) return {};
  TORCH_CHECK(residual->sizes() == input.sizes(), "a residual of another shape than its norm");
  return add_relu_takes(*residual, input) ? *residual : at::empty_like(input).copy_(*residual);
}

struct Planes {
  at::Tensor mean, variance, weight, bias, inverse;
};

void launch(const at::Tensor& input, const at::Tensor& residual, const at::Tensor& output,
            const Planes& of, double eps) {
  auto arguments = norm_arguments(input, eps);
  if (residual.defined() && !reads_fours(residual)) arguments.vectors = 0;
  NormPlanes planes{address(of.mean), address(of.variance), address(of.weight), address(of.bias),
                    of.inverse.defined() ? of.inverse.mutable_data_ptr() : nullptr};
  const void* from = input.const_data_ptr();
  const void* added = address(residual);
  void* to = output.mutable_data_ptr();
  void* all[] = {&from, &added, &to, &planes, &arguments};
  launch_kernel(batch_norm_relu_text(), "batch_norm_relu_" + kernel_type(input.scalar_type()),
                (input.numel() + 3) / 4, all);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> batch_norm_relu(
    const at::Tensor& given, const MaybeTensor& weight, const MaybeTensor& bias,
    at::Tensor& running_mean, at::Tensor& running_var, const MaybeTensor& residual, bool training,
    double momentum, double eps) {
  const c10::DeviceGuard guard(given.device());
  TORCH_CHECK(given.numel() > 0, "batch_norm_relu needs values");
  const auto input = given.contiguous(given.suggest_memory_format());
  const auto type = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto options = input.options().dtype(type);
  const auto output = at::empty_like(input);
  Planes of{plane(running_mean, type),
            plane(running_var, type),
            plane(weight, type),
            plane(bias, type),
            {}};
  const auto none = at::empty({0}, options);
  if (!training) {
    launch(input, like(input, residual), output, of, eps);
    return {output, none, none};
  }
  std::tie(of.mean, of.variance) =
      at::batch_norm_update_stats(input, running_mean, running_var, momentum);
  of.inverse = at::empty_like(of.variance);
  launch(input, like(input, residual), output, of, eps);
  return {output, of.mean, of.inverse};
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) { m.impl("batch_norm_relu", &batch_norm_relu); }

}  // namespace
}  // namespace ddptrain
