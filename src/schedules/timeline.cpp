#include "schedules/timeline.h"

#include <cmath>

#include "base/error.h"
#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(By) { return kNameList<"step", "epoch">; }

Timeline::Timeline(const Progress& at, By by) {
  const auto per_epoch = static_cast<double>(at.per_epoch);
  steps_per_tick_ = by == By::epoch ? per_epoch : 1;
  ticks_per_epoch_ = by == By::epoch ? 1 : per_epoch;
  position_ = std::floor(static_cast<double>(at.step) / steps_per_tick_);
  total_ = std::ceil(static_cast<double>(at.total) / steps_per_tick_);
}

double Timeline::exact(const Duration& duration) const {
  switch (duration.unit) {
    case Duration::Unit::epochs:
      return duration.count * ticks_per_epoch_;
    case Duration::Unit::steps:
      return duration.count / steps_per_tick_;
    case Duration::Unit::share:
      return duration.count * total_;
    default:
      DDP_CHECK(false, "a duration in samples or seconds reached a schedule");
      return 0;
  }
}

double Timeline::ticks(const Duration& duration) const { return std::round(exact(duration)); }

}  // namespace ddptrain
