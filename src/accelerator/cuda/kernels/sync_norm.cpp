// ddptrain::channel_statistics and ddptrain::join_statistics on CUDA: LibTorch's statistics of a
// batch, and kernels of our own.
#include <ATen/ops/batch_norm_update_stats.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

at::Tensor channel_statistics_cuda(const at::Tensor& given) {
  const c10::DeviceGuard guard(given.device());
  int channels = static_cast<int>(given.size(1));
  const auto options = given.options().dtype(at::kDouble);
  if (given.numel() == 0) return at::zeros({2 * given.size(1) + 1}, options);
  const auto input = given.contiguous(given.suggest_memory_format());
  const auto [mean, variance] = at::batch_norm_update_stats(input, {}, {}, 0);
  const auto packed = at::empty({2 * given.size(1) + 1}, options);
  const void* means = mean.const_data_ptr();
  const void* variances = variance.const_data_ptr();
  void* to = packed.mutable_data_ptr();
  double count = static_cast<double>(input.numel() / input.size(1));
  void* all[] = {&means, &variances, &to, &channels, &count};
  const auto type = kernel_type(mean.scalar_type());
  launch_kernel({sync_norm_text(), type, "sync_norm_pack_" + type}, packed.numel(), all);
  return packed;
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> join_statistics_cuda(
    const at::Tensor& members, at::Tensor& running_mean, at::Tensor& running_var,
    at::Tensor& batches, std::optional<double> momentum, double eps, at::ScalarType type) {
  const c10::DeviceGuard guard(members.device());
  const auto channels = running_mean.numel();
  TORCH_CHECK(members.scalar_type() == at::kDouble && members.is_contiguous() &&
                  members.size(1) == 2 * channels + 1 && batches.scalar_type() == at::kLong,
              "statistics of members in another form");
  const auto plane = [&] { return at::empty({channels}, members.options().dtype(type)); };
  const auto mean = plane(), variance = plane(), inverse = plane();
  const auto count = at::empty({1}, members.options().dtype(at::kInt));
  const auto moving_mean = running_mean.to(type), moving_var = running_var.to(type);
  SyncNormPlanes to{mean.mutable_data_ptr(),       variance.mutable_data_ptr(),
                    inverse.mutable_data_ptr(),    moving_mean.mutable_data_ptr(),
                    moving_var.mutable_data_ptr(), count.mutable_data_ptr<int>()};
  SyncNormArguments arguments{static_cast<int>(members.size(0)),
                              static_cast<int>(channels),
                              momentum.has_value(),
                              momentum.value_or(0),
                              eps,
                              reinterpret_cast<long long*>(batches.mutable_data_ptr())};
  const void* from = members.const_data_ptr();
  void* all[] = {&from, &to, &arguments};
  const auto name = kernel_type(type);
  launch_kernel({sync_norm_text(), name, "sync_norm_join_" + name},
                momentum ? channels : std::int64_t{1}, all);
  if (!moving_mean.is_same(running_mean)) running_mean.copy_(moving_mean);
  if (!moving_var.is_same(running_var)) running_var.copy_(moving_var);
  return {mean, variance, inverse, count};
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) {
  m.impl("channel_statistics", &channel_statistics_cuda);
  m.impl("join_statistics", &join_statistics_cuda);
}

}  // namespace
}  // namespace ddptrain
