// Up and down between two rates, momentum the other way (Smith 2017; torch's CyclicLR).
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

enum class CyclicMode { triangular, triangular2, exp_range };
std::span<const std::string_view> names(CyclicMode) {
  return kNameList<"triangular", "triangular2", "exp_range">;
}

class CyclicSchedule final : public Schedule {
 public:
  struct Options {
    double min_lr = 0;
    Duration up = steps(2000);
    Auto<Duration> down;
    CyclicMode mode = CyclicMode::triangular;
    double gamma = 1;
    std::optional<std::vector<double>> moms{{0.9, 0.8}};
    Warmup warmup;
    void fields(Fields& f);
  };

  CyclicSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {
    if (options_.min_lr > lr_)
      throw Error(Exit::recipe, Option{"schedule.min_lr"},
                  "it is above optimizer.lr, the upper rate");
    if (!context.momentum) options_.moms.reset();
  }

  double lr(const Progress& at) const override {
    return options_.min_lr + (lr_ - options_.min_lr) * height(at);
  }
  std::optional<double> momentum(const Progress& at) const override {
    if (!options_.moms) return {};
    const auto& m = *options_.moms;
    return m[0] - (m[0] - m[1]) * height(at);
  }

 private:
  /// 0 at the lower rate, 1 at the upper.
  double height(const Progress& at) const {
    const Timeline time(at, By::step);
    const double up = std::max(1.0, time.ticks(options_.up));
    const double down = options_.down.value ? std::max(1.0, time.ticks(*options_.down.value)) : up;
    const double cycle = std::floor(time.position() / (up + down));
    const double into = time.position() - cycle * (up + down);
    return (into <= up ? into / up : (up + down - into) / down) * scale(cycle, time.position());
  }

  double scale(double cycle, double step) const {
    switch (options_.mode) {
      case CyclicMode::triangular2:
        return std::pow(0.5, cycle);
      case CyclicMode::exp_range:
        return std::pow(options_.gamma, step);
      default:
        return 1;
    }
  }

  Options options_;
  double lr_;
};

void CyclicSchedule::Options::fields(Fields& f) {
  f("min_lr", min_lr, {.doc = "The lower rate; optimizer.lr is the upper.", .min = 0});
  f("up", up, {.doc = "How long the way up takes.", .in_steps = true});
  f("down", down, {.doc = "How long the way down takes; auto: as long as up.", .in_steps = true});
  f("mode", mode,
    {.doc = "triangular2 halves the height at each cycle, exp_range multiplies it by gamma at each "
            "step."});
  f("gamma", gamma, {.doc = "Factor of exp_range.", .min = 0, .max = 1});
  f("moms", moms,
    {.doc = "Momentum (first beta) at the lower and at the upper rate; null leaves the "
            "optimizer's own.",
     .min = 0,
     .max = 1,
     .below_max = true,
     .min_items = 2,
     .max_items = 2});
  warmup.fields(f);
}

}  // namespace

Entry<Schedule> cyclic_schedule() {
  return schedule_entry<CyclicSchedule>(
      "cyclic", "Up and down between two rates, momentum the other way.", {"momentum"});
}

}  // namespace ddptrain
