// A straight line between two factors of the rate (torch's LinearLR).
#include <algorithm>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class LinearSchedule final : public Schedule {
 public:
  struct Options {
    double start_factor = 1;
    double end_factor = 0;
    Duration over{1, Duration::Unit::share};
    By by = By::step;
    Warmup warmup;
    void fields(Fields& f) {
      f("start_factor", start_factor, {.doc = "Factor of optimizer.lr at the start.", .min = 0});
      f("end_factor", end_factor, {.doc = "Factor of optimizer.lr at the end.", .min = 0});
      f("over", over,
        {.doc = "How long the way takes; the rate stays at its end after it.", .in_steps = true});
      f("by", by, {.doc = "Whether the rate moves at every step or at every epoch."});
      warmup.fields(f);
    }
  };

  LinearSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, options_.by);
    const double over = std::max(1.0, time.ticks(options_.over));
    const double done = std::min(time.position(), over) / over;
    return lr_ * (options_.start_factor + (options_.end_factor - options_.start_factor) * done);
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> linear_schedule() {
  return schedule_entry<LinearSchedule>("linear", "A straight line, by default down to zero.");
}

}  // namespace ddptrain
