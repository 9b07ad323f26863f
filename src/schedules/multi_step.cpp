// A factor at given moments (torch's MultiStepLR).
#include <cmath>
#include <vector>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class MultiStepSchedule final : public Schedule {
 public:
  struct Options {
    std::vector<Duration> milestones;
    double gamma = 0.1;
    Warmup warmup;
    void fields(Fields& f) {
      f("milestones", milestones,
        {.doc = "When the rate changes; one that is named twice counts twice.",
         .required = true,
         .example = "[50 %, 75 %]",
         .min_items = 1,
         .in_steps = true});
      f("gamma", gamma, {.doc = "Factor of the rate at each milestone.", .min = 0});
      warmup.fields(f);
    }
  };

  MultiStepSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, By::step);
    int passed = 0;
    for (const auto& milestone : options_.milestones)
      if (time.ticks(milestone) <= time.position()) ++passed;
    return lr_ * std::pow(options_.gamma, passed);
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> multi_step_schedule() {
  return schedule_entry<MultiStepSchedule>("multi_step",
                                           "The rate times a factor at given moments.");
}

}  // namespace ddptrain
