#include "callbacks/pace.h"

#include <algorithm>

namespace ddptrain {

void Pace::stepped(double now) {
  ++steps_;
  const auto counted = std::clamp<std::int64_t>(steps_ - 1, 1, 50);
  step_ += (now - last_ - step_) / static_cast<double>(counted);
  last_ = now;
}

void Pace::paused(double now) {
  pauses_ += now - last_;
  last_ = now;
}

std::optional<double> Pace::left(std::int64_t steps) const {
  if (steps_ == 0) return {};
  return static_cast<double>(steps) * (step_ + pauses_ / static_cast<double>(steps_));
}

}  // namespace ddptrain
