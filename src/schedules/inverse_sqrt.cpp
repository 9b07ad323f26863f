// The rate falls with the root of the steps (Vaswani et al. 2017; transformers'
// get_inverse_sqrt_schedule).
#include <algorithm>
#include <cmath>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class InverseSqrtSchedule final : public Schedule {
 public:
  struct Options {
    Auto<Duration> timescale;
    Warmup warmup;
    void fields(Fields& f) {
      f("timescale", timescale,
        {.doc = "After the warm-up and three times this the rate is half; auto: as long as the "
                "warm-up, or 10000 steps without one.",
         .in_steps = true});
      warmup.fields(f);
    }
  };

  InverseSqrtSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, By::step);
    const double rise = options_.warmup.warmup ? time.ticks(*options_.warmup.warmup) : 0;
    if (time.position() < rise) return lr_ * options_.warmup.factor(time.position() / rise);
    const double scale = timescale(time, rise);
    return lr_ / std::sqrt((time.position() - rise + scale) / scale);
  }

 private:
  double timescale(const Timeline& time, double rise) const {
    if (options_.timescale.value) return std::max(1.0, time.ticks(*options_.timescale.value));
    return rise > 0 ? rise : 10000;
  }

  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> inverse_sqrt_schedule() {
  return entry_of<Schedule, InverseSqrtSchedule>(
      "inverse_sqrt", "Falls with the root of the steps, after a warm-up.");
}

}  // namespace ddptrain
