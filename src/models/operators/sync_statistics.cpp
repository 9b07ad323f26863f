#include "models/operators/sync_statistics.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/batch_norm_update_stats.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <tuple>

namespace ddptrain {
namespace {

using Joined = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

at::Tensor channel_statistics_cpu(const at::Tensor& input) {
  const auto channels = input.size(1);
  const auto options = input.options().dtype(at::kDouble);
  if (input.numel() == 0) return at::zeros({2 * channels + 1}, options);
  const auto count = input.numel() / channels;
  const auto [mean, variance] =
      at::batch_norm_update_stats(input.contiguous(input.suggest_memory_format()), {}, {}, 0);
  const auto squares = variance.to(at::kDouble).mul_(count);
  return at::cat({mean.to(at::kDouble), squares, at::full({1}, count, options)});
}

Joined join_statistics_cpu(const at::Tensor& all, at::Tensor& running_mean, at::Tensor& running_var,
                           at::Tensor& batches, std::optional<double> given, double eps,
                           at::ScalarType type) {
  const auto channels = running_mean.numel();
  const auto means = all.narrow(1, 0, channels), counts = all.narrow(1, 2 * channels, 1);
  const auto count = counts.sum(), some = count.clamp_min(1);
  const auto mean = means.mul(counts).sum(0).div_(some);
  const auto between = means.sub(mean).square_().mul_(counts);
  const auto squares = all.narrow(1, channels, channels).add(between).sum(0);

  const auto any = count.gt(0);
  batches.add_(any);
  auto momentum =
      given ? any.to(at::kDouble).mul_(*given) : any.to(at::kDouble).div_(batches.clamp_min(1));
  const auto running = running_mean.scalar_type();
  momentum = momentum.to(running);
  running_mean.lerp_(mean.to(running), momentum);
  running_var.lerp_(squares.div(count.sub(1).clamp_min_(1)).to(running), momentum);

  const auto variance = squares.div(some).to(type);
  return {mean.to(type), variance, variance.add(eps).rsqrt_(), count.to(at::kInt).reshape({1})};
}

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def("channel_statistics(Tensor input) -> Tensor");
  m.def(
      "join_statistics(Tensor members, Tensor(a!) running_mean, Tensor(b!) running_var, Tensor(c!) "
      "batches, float? momentum, float eps, ScalarType type) -> (Tensor, Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) {
  m.impl("channel_statistics", &channel_statistics_cpu);
  m.impl("join_statistics", &join_statistics_cpu);
}

}  // namespace

at::Tensor gather_statistics(const at::Tensor& input, Statistics& members) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::channel_statistics", "")
                             .typed<decltype(channel_statistics_cpu)>();
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowAutograd below;
  return members.all_gather_stacked(op.call(input));
}

at::Tensor values_of(const at::Tensor& gathered) {
  return gathered.select(1, gathered.size(1) - 1).sum();
}

SyncStatistics join_statistics(const at::Tensor& gathered, const at::Tensor& input,
                               const RunningTerms& terms) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::join_statistics", "")
                             .typed<decltype(join_statistics_cpu)>();
  const at::NoGradGuard no_grad;
  const at::AutoDispatchBelowAutograd below;
  auto mean = terms.mean, variance = terms.variance, batches = terms.batches;
  const auto type = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  auto [joined_mean, joined_variance, inverse, count] =
      op.call(gathered, mean, variance, batches, terms.momentum, terms.eps, type);
  return {joined_mean, joined_variance, inverse, count};
}

}  // namespace ddptrain
