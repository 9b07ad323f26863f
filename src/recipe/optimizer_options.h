// The options that every optimizer has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/choice.h"
#include "config/fields.h"

namespace ddptrain {

/// A learning rate, one for all layers or discriminative (Howard and Ruder 2018): `to` alone holds
/// for every layer group. fastai's slice(from, to) is {from, to}; its slice(to) is {to, others: to
/// / 10}.
struct LearningRate {
  double to = 1e-3;
  std::optional<double> from{};
  std::optional<double> others{};
  static constexpr std::string_view shorthand = "to";
  LearningRate() = default;
  LearningRate(double rate) : to(rate) {}  // NOLINT: reads as the rate
  void fields(Fields& f);
};

/// How the rate grows with the batch: with its size (Goyal et al. 2017), or the square root of that
/// (Krizhevsky 2014), which keeps the variance of a step.
enum class LrScaling { linear, sqrt };
std::span<const std::string_view> names(LrScaling);

struct OptimizerCommon {
  LearningRate lr = 1e-3;
  double weight_decay = 0;
  std::vector<std::string> no_decay{};
  std::optional<std::int64_t> lr_batch{};
  LrScaling lr_scaling = LrScaling::linear;
  void fields(Fields& f);
};

/// What must be known before an optimizer is built: `no_decay` and `lr_batch`, of the innermost
/// one where optimizers wrap others. (`lr` and `weight_decay` are the recipe's only where written.)
OptimizerCommon common_options(const ChoiceBase& optimizer);

/// [beta1, beta2] as a field: two numbers in 0 .. 1, 1 excluded.
void betas_field(Fields& f, std::vector<double>& betas);

}  // namespace ddptrain
