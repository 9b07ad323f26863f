// The optimizer's own rate, with another one at first where asked (torch's ConstantLR).
#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class ConstantSchedule final : public Schedule {
 public:
  struct Options {
    double factor = 1;
    std::optional<Duration> over;
    Warmup warmup;
    void fields(Fields& f) {
      f("factor", factor, {.doc = "Factor of optimizer.lr.", .min = 0});
      f("over", over,
        {.doc = "How long the factor holds, then optimizer.lr itself; null: the whole run.",
         .in_steps = true});
      warmup.fields(f);
    }
  };

  ConstantSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, By::step);
    const bool held = !options_.over || time.position() < time.ticks(*options_.over);
    return held ? lr_ * options_.factor : lr_;
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> constant_schedule() {
  return schedule_entry<ConstantSchedule>("constant", "The same rate throughout.");
}

}  // namespace ddptrain
