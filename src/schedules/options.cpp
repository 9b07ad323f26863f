#include "schedules/options.h"

#include <algorithm>

#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class AfterWarmup final : public Schedule {
 public:
  AfterWarmup(Duration length, double start, std::unique_ptr<Schedule> schedule)
      : length_(length), start_(start), schedule_(std::move(schedule)) {}

  double lr(const Progress& at) const override {
    const auto steps = length(at);
    const auto peak = schedule_->lr(after(at));
    if (at.step >= steps) return peak;
    const auto done = static_cast<double>(at.step) / static_cast<double>(steps);
    return peak * (start_ + (1 - start_) * done);
  }

  std::optional<double> momentum(const Progress& at) const override {
    return schedule_->momentum(after(at));
  }

 private:
  std::int64_t length(const Progress& at) const {
    return static_cast<std::int64_t>(Timeline(at, By::step).ticks(length_));
  }

  Progress after(const Progress& at) const {
    const auto steps = length(at);
    return {std::max<std::int64_t>(0, at.step - steps), std::max<std::int64_t>(1, at.total - steps),
            at.per_epoch};
  }

  Duration length_;
  double start_;
  std::unique_ptr<Schedule> schedule_;
};

}  // namespace

void Warmup::fields(Fields& f) {
  f("warmup", warmup,
    {.doc = "How long the rate rises on a line to the schedule's first; the schedule begins after "
            "it.",
     .in_steps = true});
  f("warmup_start", warmup_start,
    {.doc = "Factor of the rate in the first step of the warm-up.", .min = 0, .max = 1});
}

std::unique_ptr<Schedule> after_warmup(const Warmup& warmup, std::unique_ptr<Schedule> schedule) {
  if (!warmup.warmup) return schedule;
  return std::make_unique<AfterWarmup>(*warmup.warmup, warmup.warmup_start, std::move(schedule));
}

}  // namespace ddptrain
