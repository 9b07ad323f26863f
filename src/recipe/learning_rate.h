// A learning rate, one for all layers or discriminative (Howard and Ruder 2018). Torch-free.
#pragma once

#include <optional>
#include <string_view>

#include "config/fields.h"

namespace ddptrain {

/// `to` alone holds for every layer group. fastai's slice(from, to) is {from, to}; its slice(to) is
/// {to, others: to / 10}.
struct LearningRate {
  double to = 1e-3;
  std::optional<double> from{};
  std::optional<double> others{};
  static constexpr std::string_view shorthand = "to";
  LearningRate() = default;
  LearningRate(double rate) : to(rate) {}  // NOLINT: reads as the rate
  void fields(Fields& f);
};

}  // namespace ddptrain
