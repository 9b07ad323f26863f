// ddptrain::vocabulary_values and vocabulary_slopes_ on CUDA.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <tuple>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/cuda/kernels/in_parts.h"
#include "accelerator/cuda/kernels/launch.h"

namespace ddptrain {
namespace {

BlockCounts blocks_for(std::int64_t rows) {
  constexpr std::int64_t kOfAProcessor = 32;
  return {std::min(rows, processors() * kOfAProcessor)};
}

VocabularyArguments arguments_of(const at::Tensor& scores, std::int64_t vocabulary,
                                 double label_smoothing, double z_loss, double soft_cap) {
  return {scores.size(0),
          static_cast<int>(vocabulary),
          static_cast<int>(scores.size(1)),
          label_smoothing,
          z_loss,
          soft_cap};
}

std::tuple<at::Tensor, at::Tensor> values_on_cuda(const at::Tensor& scores,
                                                  const at::Tensor& labels, std::int64_t vocabulary,
                                                  double label_smoothing, double z_loss,
                                                  double soft_cap) {
  const c10::DeviceGuard guard(scores.device());
  if (!are_rows_of_fours(scores)) {
    static const auto parts = in_parts("ddptrain::vocabulary_values_in_parts", &values_on_cuda);
    return parts.call(scores, labels, vocabulary, label_smoothing, z_loss, soft_cap);
  }
  const auto type = scores.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const auto values = at::empty({scores.size(0)}, scores.options().dtype(type)),
             normalizers = at::empty_like(values);
  const auto places = labels.contiguous();
  auto arguments = arguments_of(scores, vocabulary, label_smoothing, z_loss, soft_cap);
  const void* from = scores.const_data_ptr();
  const void* of = places.const_data_ptr<std::int64_t>();
  void* to = values.mutable_data_ptr();
  void* sums = normalizers.mutable_data_ptr();
  void* all[] = {&from, &of, &to, &sums, &arguments};
  const auto name = kernel_type(scores.scalar_type());
  launch_kernel({vocabulary_rows_text(), name, "vocabulary_values_" + name},
                blocks_for(scores.size(0)), all);
  return {values, normalizers};
}

at::Tensor& slopes_on_cuda(at::Tensor& scores, const at::Tensor& labels,
                           const at::Tensor& normalizers, const at::Tensor& each,
                           std::int64_t vocabulary, double label_smoothing, double z_loss,
                           double soft_cap) {
  const c10::DeviceGuard guard(scores.device());
  if (!are_rows_of_fours(scores)) {
    static const auto parts = in_parts("ddptrain::vocabulary_slopes_in_parts_", &slopes_on_cuda);
    return parts.call(scores, labels, normalizers, each, vocabulary, label_smoothing, z_loss,
                      soft_cap);
  }
  const auto places = labels.contiguous(), sums = normalizers.contiguous(),
             factors = each.to(normalizers.scalar_type()).contiguous();
  auto arguments = arguments_of(scores, vocabulary, label_smoothing, z_loss, soft_cap);
  void* to = scores.mutable_data_ptr();
  const void* of = places.const_data_ptr<std::int64_t>();
  const void* about = sums.const_data_ptr();
  const void* times = factors.const_data_ptr();
  void* all[] = {&to, &of, &about, &times, &arguments};
  const auto name = kernel_type(scores.scalar_type());
  launch_kernel({vocabulary_rows_text(), name, "vocabulary_slopes_" + name},
                blocks_for(scores.size(0)), all);
  return scores;
}

TORCH_LIBRARY_IMPL(ddptrain, CUDA, m) {
  m.impl("vocabulary_values", &values_on_cuda);
  m.impl("vocabulary_slopes_", &slopes_on_cuda);
}

}  // namespace
}  // namespace ddptrain
