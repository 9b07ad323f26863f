// What a step summed to.
#pragma once

#include <cstdint>

namespace ddptrain {

/// What the window's micro-batches summed to, over all ranks and replicas.
struct StepTotals {
  double loss_sum = 0;
  double weight = 0;
  bool finite = true;
  std::int64_t left_out = 0;  // bad samples
  bool data_lost = false;     // of a rank: the step counts for nothing, buffers were moved
  bool asked = false;         // a rank has a request for all
  bool loss_finite = true;    // where not all is finite: whether the loss is
};

/// Whether the step moves the weights: it is finite, has a counted sample, and no rank lost data.
inline bool is_made(const StepTotals& totals) {
  return totals.finite && totals.weight > 0 && !totals.data_lost;
}

}  // namespace ddptrain
