// One optimiser step: micro-batches to gradients, gradients to new weights.
#pragma once

#include <cstdint>
#include <optional>

namespace ddptrain {

struct RunState;
struct Training;

struct StepReport {
  double loss = 0;  // mean over the step's weight, all ranks
  double lr = 0;
  std::optional<double> momentum;
  double gradient_norm = 0;  // of the mean, before clipping; NaN where neither logged nor clipped
  bool changed = true;       // false: no counted sample, or not finite and skipped
  bool data_lost = false;    // a rank has lost a mapped file: all is as it was before the step
};

/// Takes the next `micro_steps` batches of the loader. Order: finite check, unscale and ratio,
/// clip, step. Throws an Error (Exit::non_finite) under policy `stop`, and on all ranks alike one
/// (Exit::data) where the epoch has more bad samples than policy.bad_samples allows. Where a rank
/// waits for a batch and the file of its samples was cut, all ranks return alike. The caller moves
/// the position on, and has entered the step's stage.
StepReport make_step(const Training& training, RunState& state, std::int64_t micro_steps);

}  // namespace ddptrain
