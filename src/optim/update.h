// What an optimizer moves at once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace ddptrain {

/// Parameters that are moved together: one group, device, type and step number.
struct Update {
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> gradients;           // with the parameters' strides
  std::vector<std::vector<at::Tensor>> state;  // [slot][parameter]
  std::vector<at::Tensor> steps;               // number of this step: float scalars on the CPU
  std::int64_t step = 0;                       // the same number, from 1
  double lr = 0;                               // the group's multipliers applied
  double weight_decay = 0;
  std::optional<double> momentum;  // where a schedule cycles it
  at::Tensor refused;              // as in Rates, where update() heeds it; else undefined
  at::Tensor rate_there;           // `lr` as a float of the device, where update() is to read it
  at::Tensor momentum_there;       // `momentum` likewise; defined with `rate_there` alone
  at::Tensor step_there;           // `step` likewise, in a step that is captured
  std::vector<std::size_t> members;
  std::size_t group = 0;
};

}  // namespace ddptrain
