// The options that every optimiser has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/choice.h"
#include "config/fields.h"
#include "recipe/learning_rate.h"

namespace ddptrain {

struct OptimizerCommon {
  LearningRate lr = 1e-3;
  double weight_decay = 0;
  std::vector<std::string> no_decay{};
  std::optional<std::int64_t> lr_batch{};
  void fields(Fields& f);
};

/// What whoever builds an optimiser must know before: `no_decay` and `lr_batch`, of the innermost
/// one where optimisers wrap others. (`lr` and `weight_decay` are the recipe's only where written.)
OptimizerCommon common_options(const ChoiceBase& optimizer);

/// [beta1, beta2] as a field: two numbers in 0 .. 1, 1 excluded.
void betas_field(Fields& f, std::vector<double>& betas);

}  // namespace ddptrain
