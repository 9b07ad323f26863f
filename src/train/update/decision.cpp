#include "train/update/decision.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <vector>

namespace ddptrain {
namespace {

using Numbers = std::numeric_limits<double>;

at::TensorOptions on(at::Device device, at::ScalarType type) {
  return at::TensorOptions(device).dtype(type);
}

}  // namespace

Decision::Decision(at::Device device, const std::optional<LossScale>& loss_scale)
    : device_(device),
      sound_(limits(device, /*only_finite=*/false)),
      finite_(limits(device, /*only_finite=*/true)),
      ended_(at::zeros({1}, on(device, at::kFloat))) {
  if (!loss_scale) return;
  options_ = loss_scale->options();
  scale_ = at::full({1}, loss_scale->scale(), on(device, at::kFloat));
  finite_steps_ = at::full({1}, loss_scale->finite_steps(), on(device, at::kInt));
}

Decision::Limits Decision::limits(at::Device device, bool only_finite) {
  std::vector<double> low(kNorm, -Numbers::infinity()), high(kNorm, Numbers::infinity());
  low[kLossSum] = low[kPenalty] = Numbers::lowest();
  high[kLossSum] = high[kPenalty] = Numbers::max();
  high[kOverflow] = 0;
  if (!only_finite) {
    low[kWeight] = Numbers::denorm_min();
    high[kDataLost] = high[kMissing] = 0;
  }
  return {at::tensor(low, at::kDouble).to(device), at::tensor(high, at::kDouble).to(device)};
}

at::Tensor Decision::outside(const at::Tensor& numbers, const Limits& limits) {
  const auto judged = numbers.narrow(0, 0, kNorm);
  return judged.clamp(limits.low, limits.high).ne(judged).any().to(at::kFloat).reshape({1});
}

at::Tensor Decision::loss_gradient(double nominal) const {
  return scale_.defined() ? scale_.to(at::kDouble).div(nominal).reshape({}) : at::Tensor();
}

at::Tensor Decision::factor(const at::Tensor& numbers, double nominal) {
  if (nominal != nominal_) nominal_there_ = at::full({}, nominal, on(device_, at::kDouble));
  nominal_ = nominal;
  const auto weight = numbers.select(0, kWeight);
  if (!scale_.defined()) return nominal_there_.div(weight);
  return nominal_there_.div(weight * scale_.to(at::kDouble).reshape({}));
}

at::Tensor Decision::refused(const at::Tensor& numbers) const { return outside(numbers, sound_); }

at::Tensor Decision::refused_for_good(const at::Tensor& numbers) {
  ended_.copy_(at::maximum(ended_, outside(numbers, finite_)));
  return at::maximum(ended_, refused(numbers));
}

void Decision::update_scale(const at::Tensor& numbers) {
  if (!scale_.defined()) return;
  at::_amp_update_scale_(scale_, finite_steps_, outside(numbers, finite_), options_.growth,
                         options_.backoff, options_.growth_interval);
}

}  // namespace ddptrain
