// (1 - progress) to a power (torch's PolynomialLR, with a floor).
#include <algorithm>
#include <cmath>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class PolynomialSchedule final : public Schedule {
 public:
  struct Options {
    double power = 1;
    Duration over{1, Duration::Unit::share};
    Floor floor;
    By by = By::step;
    Warmup warmup;
    void fields(Fields& f) {
      f("power", power, {.doc = "1 is a line, 2 a parabola.", .min = 0});
      f("over", over,
        {.doc = "How long the way takes; the rate stays at its end after it.", .in_steps = true});
      floor.fields(f);
      f("by", by, {.doc = "Whether the rate moves at every step or at every epoch."});
      warmup.fields(f);
    }
  };

  PolynomialSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, options_.by);
    const double over = std::max(1.0, time.ticks(options_.over));
    const double left = 1 - std::min(time.position(), over) / over;
    const double floor = options_.floor.of(lr_);
    return floor + (lr_ - floor) * std::pow(left, options_.power);
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> polynomial_schedule() {
  return schedule_entry<PolynomialSchedule>("polynomial", "A power of what is left of the run.");
}

}  // namespace ddptrain
