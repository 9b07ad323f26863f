// Half a cosine from the rate to a floor (torch's CosineAnnealingLR; Loshchilov and Hutter 2017).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class CosineSchedule final : public Schedule {
 public:
  struct Options {
    Duration over{1, Duration::Unit::share};
    double min_lr = 0;
    By by = By::step;
    Warmup warmup;
    void fields(Fields& f) {
      f("over", over,
        {.doc = "How long the way to the floor takes; in a run that goes on, the rate swings up "
                "again, as torch's does.",
         .in_steps = true});
      f("min_lr", min_lr, {.doc = "The floor.", .min = 0});
      f("by", by, {.doc = "Whether the rate moves at every step or at every epoch."});
      warmup.fields(f);
    }
  };

  CosineSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, options_.by);
    const double over = std::max(1.0, time.ticks(options_.over));
    const double wave = (1 + std::cos(std::numbers::pi * time.position() / over)) / 2;
    return options_.min_lr + (lr_ - options_.min_lr) * wave;
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> cosine_schedule() {
  return schedule_entry<CosineSchedule>("cosine", "Half a cosine down to a floor.");
}

}  // namespace ddptrain
