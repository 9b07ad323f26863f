// Averages of the weights over the steps of a run.
#include "optim/ema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "optim/refusal.h"

namespace ddptrain {

double kept_share(const EmaOptions& options, std::int64_t update) {
  const auto n = static_cast<double>(update - options.update_after_step);
  if (n <= 0) return 0;
  if (options.type == Averaging::swa) return n / (n + 1);
  if (!options.warmup) return options.decay;
  const double risen = 1 - std::pow(1 + n / options.warmup_gamma, -options.warmup_power);
  return std::clamp(risen, options.min_decay, options.decay);
}

Ema::Ema(const std::vector<NamedTensor>& parameters, EmaOptions options)
    : options_(options), updates_(at::zeros({}, at::kLong)) {
  for (const auto& [name, tensor] : parameters) {
    live_.push_back(tensor);
    means_.push_back(tensor.detach().clone());
    averages_.push_back({name, means_.back()});
  }
}

void Ema::update() {
  at::NoGradGuard no_grad;
  buffers_.clear();
  auto& updates = *updates_.mutable_data_ptr<std::int64_t>();
  const double kept = kept_share(options_, updates++);
  if (kept == 0)
    at::_foreach_copy_(means_, live_);
  else
    at::_foreach_lerp_(means_, live_, 1 - kept);
}

bool Ema::can_be_captured() const {
  if (options_.type != Averaging::ema || options_.warmup || options_.decay == 0) return false;
  const auto is_single = [](const at::Tensor& mean) { return mean.scalar_type() == at::kFloat; };
  return updates() > options_.update_after_step && std::ranges::all_of(means_, is_single);
}

void Ema::capture(const at::Tensor& refused) const {
  const at::NoGradGuard no_grad;
  copy_unless(refused, means_, at::_foreach_lerp(means_, live_, 1 - options_.decay));
}

void Ema::was_repeated() {
  buffers_.clear();
  ++*updates_.mutable_data_ptr<std::int64_t>();
}

std::int64_t Ema::updates() const { return *updates_.const_data_ptr<std::int64_t>(); }

std::vector<NamedTensor> Ema::state() const {
  auto all = averages_;
  all.insert(all.end(), buffers_.begin(), buffers_.end());
  all.push_back({"ema_updates", updates_});
  return all;
}

}  // namespace ddptrain
