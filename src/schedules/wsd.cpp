// Warm-up, stable, decay (transformers' get_wsd_schedule).
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

enum class Decay { cosine, linear, one_minus_sqrt };
std::span<const std::string_view> names(Decay) {
  static constexpr std::array<std::string_view, 3> words{"cosine", "linear", "one_minus_sqrt"};
  return words;
}

class WsdSchedule final : public Schedule {
 public:
  struct Options {
    Auto<Duration> stable;
    Duration decay{0.2, Duration::Unit::share};
    Decay curve = Decay::cosine;
    double min_lr = 0;
    Warmup warmup;
    void fields(Fields& f) {
      f("stable", stable,
        {.doc = "How long the rate stays as it is; auto: until the decay must begin.",
         .in_steps = true});
      f("decay", decay, {.doc = "How long the rate falls at the end.", .in_steps = true});
      f("curve", curve, {.doc = "How it falls."});
      f("min_lr", min_lr, {.doc = "The rate after it.", .min = 0});
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
    if (time.position() >= stable + decay) return options_.min_lr;
    return options_.min_lr + (lr_ - options_.min_lr) * left((time.position() - stable) / decay);
  }

 private:
  double left(double done) const {
    switch (options_.curve) {
      case Decay::cosine:
        return (1 + std::cos(std::numbers::pi * done)) / 2;
      case Decay::linear:
        return 1 - done;
      case Decay::one_minus_sqrt:
        break;
    }
    return 1 - std::sqrt(done);
  }

  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> wsd_schedule() {
  return schedule_entry<WsdSchedule>("wsd", "Warm-up, then the rate as it is, then a decay.");
}

}  // namespace ddptrain
