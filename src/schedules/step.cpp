// A factor at equal distances (torch's StepLR).
#include <algorithm>
#include <cmath>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class StepSchedule final : public Schedule {
 public:
  struct Options {
    Duration every = epochs(30);
    double gamma = 0.1;
    Warmup warmup;
    void fields(Fields& f) {
      f("every", every, {.doc = "How long each rate holds.", .in_steps = true});
      f("gamma", gamma, {.doc = "Factor of the rate, applied each time.", .min = 0});
      warmup.fields(f);
    }
  };

  StepSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, By::step);
    const double every = std::max(1.0, time.ticks(options_.every));
    return lr_ * std::pow(options_.gamma, std::floor(time.position() / every));
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> step_schedule() {
  return schedule_entry<StepSchedule>("step", "The rate times a factor at equal distances.");
}

}  // namespace ddptrain
