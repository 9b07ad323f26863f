// How long the rest of a run will take.
#pragma once

#include <cstdint>
#include <optional>

namespace ddptrain {

/// Steps take what the last ones took, the first of all (which warms up) aside; what lies between
/// them, evaluations and checkpoints, comes as often as it did so far. Times are seconds of the
/// run's clock.
class Pace {
 public:
  void begin(double now) { last_ = now; }
  void stepped(double now);  // a step has ended
  void paused(double now);   // an evaluation or a checkpoint has ended
  /// Empty before the first step.
  std::optional<double> left(std::int64_t steps) const;

 private:
  double last_ = 0;  // end of what was counted last
  double step_ = 0;  // seconds of a step, the mean over about the last fifty
  double pauses_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace ddptrain
