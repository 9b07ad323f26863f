// Progress in the unit a schedule moves in, and durations in that unit.
#pragma once

#include <span>
#include <string_view>

#include "config/units.h"
#include "schedules/schedule.h"

namespace ddptrain {

/// How often a schedule moves: at every optimizer step, or at every epoch as torch's are commonly
/// stepped. It then stays where it is for the whole epoch.
enum class By { step, epoch };
std::span<const std::string_view> names(By);

/// Steps or epochs done, by `By`; all numbers are in that unit.
class Timeline {
 public:
  Timeline(const Progress& at, By by);
  double position() const { return position_; }
  double total() const { return total_; }
  /// The share of the run that is done, 0 .. 1.
  double share() const { return total_ > position_ ? position_ / total_ : 1; }
  /// A duration in this unit, a whole number. It is in steps, epochs or a share (Spec::in_steps).
  double ticks(const Duration& duration) const;

 private:
  double exact(const Duration& duration) const;
  double position_;
  double total_;
  double steps_per_tick_;
  double ticks_per_epoch_;
};

}  // namespace ddptrain
