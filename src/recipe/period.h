// Durations and periods of a recipe as optimizer steps.
#pragma once

#include <cstdint>
#include <optional>

#include "config/units.h"

namespace ddptrain {

/// What a duration in epochs, samples or a share needs to become steps.
struct RunLength {
  std::int64_t total = 0;      // steps of the run
  std::int64_t per_epoch = 1;  // steps of an epoch
  std::int64_t global = 1;     // samples of a step
};

/// Steps in a duration, at least 1, rounded to the nearest; empty for seconds.
std::optional<std::int64_t> in_steps(const Duration& duration, const RunLength& run);

/// Says when something that happens every so often is due. Seconds are counted by rank 0's clock;
/// everything else by steps, so that it is the same on every rank and after a resume.
class Period {
 public:
  Period(const Duration& period, const RunLength& run) : period_(period), run_(run) {}
  bool timed() const { return period_.unit == Duration::Unit::seconds; }
  bool due(std::int64_t step) const;     // after `step` steps were made; never for a timed one
  bool due_after(double seconds) const;  // since it last happened; only for a timed one

 private:
  Duration period_;
  RunLength run_;
};

}  // namespace ddptrain
