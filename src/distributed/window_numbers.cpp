#include "distributed/window_numbers.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "distributed/sharding/shards.h"

namespace ddptrain {

StepTotals totals_of(const at::Tensor& numbers) {
  const auto* at = numbers.const_data_ptr<double>();
  StepTotals totals;
  totals.loss_sum = at[kLossSum];
  totals.weight = at[kWeight];
  totals.loss_finite = std::isfinite(at[kLossSum]) && std::isfinite(at[kPenalty]);
  totals.finite = totals.loss_finite && at[kOverflow] == 0;
  totals.left_out = static_cast<std::int64_t>(at[kLeftOut]);
  totals.data_lost = at[kDataLost] > 0;
  totals.asked = at[kAsked] > 0;
  return totals;
}

void HostCounts::add(const Batch& batch, const MicroStep& at) {
  left_out += batch.left_out;
  data_lost = data_lost || at.data_lost;
}

const at::Tensor& HostNumbers::on(at::Device device, std::vector<double> numbers) {
  if (tensor_.defined() && numbers == last_) return tensor_;
  if (device.is_cpu()) {
    tensor_ = at::tensor(numbers, at::kDouble);
  } else {
    const auto pinned = at::empty({static_cast<std::int64_t>(numbers.size())},
                                  at::TensorOptions().dtype(at::kDouble).pinned_memory(true));
    std::copy(numbers.begin(), numbers.end(), pinned.mutable_data_ptr<double>());
    if (tensor_.defined() && tensor_.sizes() == pinned.sizes())
      tensor_.copy_(pinned, /*non_blocking=*/true);  // a graph may read it there
    else
      tensor_ = pinned.to(device, /*non_blocking=*/true);
  }
  last_ = std::move(numbers);
  return tensor_;
}

at::Tensor HostNumbers::behind(const at::Tensor& sums, std::vector<double> numbers) {
  if (!sums.is_cpu()) return at::cat({sums, on(sums.device(), std::move(numbers))});
  auto all = at::empty({sums.numel() + std::ssize(numbers)}, sums.options());
  auto* to = all.mutable_data_ptr<double>();
  std::ranges::copy(numbers, std::copy_n(sums.const_data_ptr<double>(), sums.numel(), to));
  return all;
}

std::vector<double> counted(const HostCounts& counts, bool asked) {
  return {static_cast<double>(counts.left_out),
          counts.data_lost ? 1.0 : 0.0,
          asked ? 1.0 : 0.0,
          0.0,
          0.0,
          0.0};
}

void look_at_gradients(const at::Tensor& numbers, const std::vector<at::Tensor>& gradients) {
  if (!numbers.is_cpu()) return;
  if (totals_of(numbers).loss_finite && !all_finite(gradients))
    numbers.mutable_data_ptr<double>()[kOverflow] = 1;
}

void look_at_gradients(const at::Tensor& numbers, const Shards& shards) {
  if (!numbers.is_cpu()) return;
  std::vector<at::Tensor> gradients;
  for (const auto& piece : shards.pieces())
    if (piece.tensor.grad().defined()) gradients.push_back(piece.tensor.grad());
  look_at_gradients(numbers, gradients);
  auto overflow = numbers.narrow(0, kOverflow, 1);
  shards.ranks().all_reduce(overflow);
}

}  // namespace ddptrain
