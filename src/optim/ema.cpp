// Averages of the weights over the steps of a run.
#include "optim/ema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace ddptrain {

std::span<const std::string_view> names(Averaging) {
  static constexpr std::string_view words[] = {"ema", "swa", "timm_ema"};
  return words;
}

double kept_share(const EmaOptions& options, std::int64_t update) {
  const auto n = static_cast<double>(update);
  if (update == 0) return 0;
  if (options.type == Averaging::swa) return n / (n + 1);
  if (options.type == Averaging::timm_ema && options.warmup)
    return std::min(1 - std::pow(1 + n, -2.0 / 3), options.decay);
  return options.decay;
}

Ema::Ema(EmaOptions options, const std::vector<NamedTensor>& parameters,
         const std::vector<NamedTensor>& buffers)
    : options_(options), updates_(at::zeros({}, at::kLong)) {
  const auto keep = [&](const NamedTensor& named, auto& sources, auto& copies) {
    sources.push_back(named.tensor.detach());
    copies.push_back(named.tensor.detach().clone());
    averages_.push_back({named.name, copies.back()});
  };
  for (const auto& named : parameters) keep(named, parameters_, mean_parameters_);
  for (const auto& named : buffers) keep(named, buffers_, copies_);
}

void Ema::update() {
  at::NoGradGuard no_grad;
  auto& updates = *updates_.mutable_data_ptr<std::int64_t>();
  const double kept = kept_share(options_, updates++);
  if (kept == 0)
    at::_foreach_copy_(mean_parameters_, parameters_);
  else
    at::_foreach_lerp_(mean_parameters_, parameters_, 1 - kept);
  if (!buffers_.empty()) at::_foreach_copy_(copies_, buffers_);
}

std::vector<NamedTensor> Ema::state() const {
  auto all = averages_;
  all.push_back({"ema_updates", updates_});
  return all;
}

void Ema::load(const std::vector<NamedTensor>& state) {
  at::NoGradGuard no_grad;
  const auto own = this->state();
  if (state.size() != own.size())
    throw Error(Exit::data, "the average has " + std::to_string(own.size()) + " tensors, not " +
                                std::to_string(state.size()));
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (state[i].name != own[i].name || state[i].tensor.sizes() != own[i].tensor.sizes())
      throw Error(Exit::data, "average '" + own[i].name + "' does not fit '" + state[i].name + "'");
    auto target = own[i].tensor;
    target.copy_(state[i].tensor);
  }
}

}  // namespace ddptrain
