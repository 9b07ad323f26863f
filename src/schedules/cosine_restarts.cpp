// Half cosines one after the other, each longer by a factor (torch's CosineAnnealingWarmRestarts,
// fastai's fit_sgdr; Loshchilov and Hutter 2017).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "schedules/curve.h"
#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class CosineRestartsSchedule final : public Schedule {
 public:
  struct Options {
    Duration period = epochs(1);
    std::int64_t mult = 2;
    double min_lr = 0;
    Peer like = Peer::torch;
    By by = By::step;
    Warmup warmup;
    void fields(Fields& f) {
      f("period", period, {.doc = "How long the first cycle takes.", .in_steps = true});
      f("mult", mult, {.doc = "Factor of the length from one cycle to the next.", .min = 1});
      f("min_lr", min_lr, {.doc = "The rate that a cycle falls to.", .min = 0});
      f("like", like,
        {.doc = "Whose numbers: fastai's fit_sgdr compares positions in float32, so a restart may "
                "come one step later than torch's."});
      f("by", by, {.doc = "Whether the rate moves at every step or at every epoch."});
      warmup.fields(f);
    }
  };

  CosineRestartsSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, options_.by);
    const double first = std::max(1.0, time.ticks(options_.period));
    if (options_.like == Peer::fastai) return joined(time, first);
    double length = first;
    double into = time.position();
    if (options_.mult == 1) into = std::fmod(into, length);
    for (; into >= length; length *= static_cast<double>(options_.mult)) into -= length;
    const double wave = (1 + std::cos(std::numbers::pi * into / length)) / 2;
    return options_.min_lr + (lr_ - options_.min_lr) * wave;
  }

 private:
  double joined(const Timeline& time, double first) const {
    std::vector<double> shares;
    std::vector<Curve> curves;
    double length = first;
    for (double begin = 0; begin < time.total(); length *= static_cast<double>(options_.mult)) {
      shares.push_back(length / time.total());
      curves.push_back({Anneal::cosine, lr_, options_.min_lr});
      begin += length;
    }
    return JoinedCurves(shares, std::move(curves)).at(time.share());
  }

  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> cosine_restarts_schedule() {
  return schedule_entry<CosineRestartsSchedule>(
      "cosine_restarts", "Half cosines that begin again, each longer than the one before.");
}

}  // namespace ddptrain
