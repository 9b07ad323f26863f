// Adam and AdamW: one step, two defaults.
#pragma once

#include "optim/stateful.h"

namespace ddptrain {

struct AdamOptions {
  OptimizerCommon common;
  std::vector<double> betas{0.9, 0.999};
  double eps = 1e-8;
  bool amsgrad = false;
  bool maximize = false;
  bool decoupled_weight_decay = false;
};

/// Every field but `decoupled_weight_decay`.
void adam_fields(Fields& f, AdamOptions& options);

std::unique_ptr<Optimizer> make_adam(const AdamOptions& options,
                                     std::vector<ParameterGroup> groups);

}  // namespace ddptrain
