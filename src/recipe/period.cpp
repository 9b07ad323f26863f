#include "recipe/period.h"

#include <algorithm>
#include <cmath>

namespace ddptrain {
namespace {

double exact_steps(const Duration& duration, const RunLength& run) {
  switch (duration.unit) {
    case Duration::Unit::epochs:
      return duration.count * static_cast<double>(run.per_epoch);
    case Duration::Unit::steps:
      return duration.count;
    case Duration::Unit::samples:
      return std::ceil(duration.count / static_cast<double>(run.global));
    case Duration::Unit::share:
      return duration.count * static_cast<double>(run.total);
    case Duration::Unit::seconds:
      break;
  }
  return 0;
}

}  // namespace

std::optional<std::int64_t> in_steps(const Duration& duration, const RunLength& run) {
  if (duration.unit == Duration::Unit::seconds) return {};
  return std::max<std::int64_t>(1, std::llround(exact_steps(duration, run)));
}

// A period that is not a whole number of steps (half an epoch of 7) is due at the step nearest to
// each multiple.
bool Period::due(std::int64_t step) const {
  if (timed() || step <= 0) return false;
  const double every = std::max(1.0, exact_steps(period_, run_));
  const double nearest = std::round(static_cast<double>(step) / every);
  return nearest >= 1 && std::llround(nearest * every) == step;
}

bool Period::due_after(double seconds) const { return timed() && seconds >= period_.count; }

}  // namespace ddptrain
