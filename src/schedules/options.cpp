#include "schedules/options.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class AfterWarmup final : public Schedule {
 public:
  AfterWarmup(const Warmup& warmup, std::unique_ptr<Schedule> schedule)
      : warmup_(warmup), schedule_(std::move(schedule)) {}

  double lr(const Progress& at) const override {
    const auto steps = length(at);
    const auto peak = schedule_->lr(after(at));
    if (at.step >= steps) return peak;
    const auto done = static_cast<double>(at.step) / static_cast<double>(steps);
    return peak * warmup_.factor(done);
  }

  std::optional<double> momentum(const Progress& at) const override {
    return schedule_->momentum(after(at));
  }

 private:
  std::int64_t length(const Progress& at) const {
    return static_cast<std::int64_t>(Timeline(at, By::step).ticks(*warmup_.warmup));
  }

  Progress after(const Progress& at) const {
    const auto steps = length(at);
    return {std::max<std::int64_t>(0, at.step - steps), std::max<std::int64_t>(1, at.total - steps),
            at.per_epoch};
  }

  Warmup warmup_;  // has a length
  std::unique_ptr<Schedule> schedule_;
};

}  // namespace

std::span<const std::string_view> names(Slope) { return kNameList<"linear", "cosine", "1-sqrt">; }

double falling(Slope slope, double done) {
  switch (slope) {
    case Slope::linear:
      return 1 - done;
    case Slope::cosine:
      return (1 + std::cos(std::numbers::pi * done)) / 2;
    case Slope::one_minus_sqrt:
      break;
  }
  return 1 - std::sqrt(done);
}

void Warmup::fields(Fields& f) {
  f("warmup", warmup,
    {.doc = "How long the rate rises to the schedule's first; the schedule begins after it.",
     .in_steps = true});
  f("warmup_start", warmup_start,
    {.doc = "Factor of the rate in the first step of the warm-up.", .min = 0, .max = 1});
  f("warmup_type", warmup_type, {.doc = "How the rate rises."});
}

void Floor::fields(Fields& f) {
  f("min_lr", min_lr, {.doc = "The rate that the schedule falls to.", .min = 0});
  f("min_lr_ratio", min_lr_ratio,
    {.doc = "The same as a share of optimizer.lr.", .min = 0, .max = 1});
  f.require(not_both("min_lr", "min_lr_ratio"));
}

std::unique_ptr<Schedule> after_warmup(const Warmup& warmup, std::unique_ptr<Schedule> schedule) {
  if (!warmup.warmup) return schedule;
  return std::make_unique<AfterWarmup>(warmup, std::move(schedule));
}

}  // namespace ddptrain
