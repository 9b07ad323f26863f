// CPU ranks of one machine: a forecast from steps that were measured on it.
#pragma once

#include <cstdint>
#include <vector>

namespace ddptrain {

/// A step that `bench` measured: seconds of rank 0.
struct MeasuredStep {
  std::int64_t devices = 1;
  std::int64_t cores = 1;    // of the machine
  std::int64_t threads = 1;  // that compute, of each rank
  double samples = 1;        // of a step, over all ranks
  double passes = 0;         // forward and backward, with the transfer
  double update = 0;         // the optimizer, and what else is the same for any batch
  double communication = 0;  // that the step waits for
  double loader = 0;         // that the step waits for
  double loader_alone = 0;   // a step's batches without computing

  double seconds() const { return passes + update + communication + loader; }
};

/// A step of `samples` over `devices` ranks with `threads` each, from the measured one with the
/// most ranks (at least 2, unless `devices` is 1). Passes take as long as the samples of a rank,
/// and longer if ranks share cores; what each rank does for itself takes longer by the sharing
/// alone; a ring of n sends 2 (n - 1) / n of the gradients.
MeasuredStep forecast_ranks(const std::vector<MeasuredStep>& measured, std::int64_t devices,
                            std::int64_t threads, double samples);

}  // namespace ddptrain
