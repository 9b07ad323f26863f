// Half a cosine from the rate to a floor (torch's CosineAnnealingLR, transformers'
// get_cosine_with_min_lr_schedule_with_warmup; Loshchilov and Hutter 2017).
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
    Floor floor;
    By by = By::step;
    Warmup warmup;
    void fields(Fields& f) {
      f("over", over,
        {.doc = "How long the way to the floor takes; in a run that goes on, the rate swings up "
                "again, as torch's does.",
         .in_steps = true});
      floor.fields(f);
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
    const double floor = options_.floor.of(lr_);
    return floor + (lr_ - floor) * wave;
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
