// Rectified Adam, alone and inside ranger.
#pragma once

#include "optim/stateful.h"

namespace ddptrain {

struct RadamOptions {
  OptimizerCommon common;
  std::vector<double> betas{0.9, 0.999};
  double eps = 1e-8;
  bool eps_after_debias = false;
  double softplus = 0;
  bool maximize = false;
  bool decoupled_weight_decay = false;
};

/// The factor r of arXiv 1908.03265 for a step from 1; 0 while the variance is unknown (length of
/// the approximated average at most 5).
double radam_rectification(std::int64_t step, double beta2);

std::unique_ptr<Optimizer> make_radam(const RadamOptions& options,
                                      std::vector<ParameterGroup> groups);

}  // namespace ddptrain
