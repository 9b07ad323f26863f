// Warm-up, stable, decay (transformers' get_wsd_schedule).
#include <algorithm>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class WsdSchedule final : public Schedule {
 public:
  struct Options {
    Auto<Duration> stable;
    Duration decay{0.2, Duration::Unit::share};
    Slope decay_type = Slope::cosine;
    Floor floor;
    Warmup warmup;
    void fields(Fields& f) {
      f("stable", stable,
        {.doc = "How long the rate stays as it is; auto: until the decay must begin.",
         .in_steps = true});
      f("decay", decay, {.doc = "How long the rate falls at the end.", .in_steps = true});
      f("decay_type", decay_type, {.doc = "How it falls.", .was = "curve"});
      floor.fields(f);
      warmup.fields(f);
    }
  };

  WsdSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, By::step);
    const double decay = time.ticks(options_.decay);
    const double stable = options_.stable.value ? time.ticks(*options_.stable.value)
                                                : std::max(0.0, time.total() - decay);
    if (time.position() < stable) return lr_;
    const double floor = options_.floor.of(lr_);
    if (time.position() >= stable + decay) return floor;
    const double done = (time.position() - stable) / decay;
    return floor + (lr_ - floor) * falling(options_.decay_type, done);
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> wsd_schedule() {
  return schedule_entry<WsdSchedule>("wsd", "Warm-up, then the rate as it is, then a decay.");
}

}  // namespace ddptrain
