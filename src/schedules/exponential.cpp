// A factor at every epoch or step (torch's ExponentialLR).
#include <cmath>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class ExponentialSchedule final : public Schedule {
 public:
  struct Options {
    double gamma = 0.95;
    By by = By::epoch;
    Warmup warmup;
    void fields(Fields& f) {
      f("gamma", gamma, {.doc = "Factor of the rate, applied each time.", .min = 0});
      f("by", by, {.doc = "Whether it is applied at every step or at every epoch."});
      warmup.fields(f);
    }
  };

  ExponentialSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    return lr_ * std::pow(options_.gamma, Timeline(at, options_.by).position());
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> exponential_schedule() {
  return schedule_entry<ExponentialSchedule>("exponential",
                                             "The rate times a factor at every epoch.");
}

}  // namespace ddptrain
