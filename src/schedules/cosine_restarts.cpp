// Half cosines one after the other, each longer by a factor (torch's CosineAnnealingWarmRestarts,
// transformers' get_cosine_with_hard_restarts_schedule_with_warmup, fastai's fit_sgdr; Loshchilov
// and Hutter 2017).
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
    std::optional<Duration> period;
    std::optional<std::int64_t> num_cycles;
    std::int64_t mult = 2;
    Floor floor;
    Peer like = Peer::torch;
    By by = By::step;
    Warmup warmup;
    void fields(Fields& f) {
      f("period", period,
        {.doc = "How long the first cycle takes; null: an epoch, or what num_cycles leaves it.",
         .in_steps = true});
      f("num_cycles", num_cycles,
        {.doc = "So many cycles take the whole run; after the last one the rate stays low.",
         .min = 1});
      f.require(not_both("period", "num_cycles"));
      f("mult", mult, {.doc = "Factor of the length from one cycle to the next.", .min = 1});
      floor.fields(f);
      f("like", like,
        {.doc = "Whose numbers: fastai's fit_sgdr compares positions in float32, so a restart may "
                "come one step later than torch's."});
      f("by", by, {.doc = "Whether the rate moves at every step or at every epoch."});
      warmup.fields(f);
    }
  };

  CosineRestartsSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr), floor_(options.floor.of(context.lr)) {}

  double lr(const Progress& at) const override {
    const Timeline time(at, options_.by);
    if (options_.num_cycles && time.position() >= time.total()) return floor_;
    const double parts = parts_of_a_tick(time);
    double length = first_cycle(time);
    if (options_.like == Peer::fastai) return joined(time, length / parts);
    double into = time.position() * parts;
    if (options_.mult == 1) into = std::fmod(into, length);
    for (; into >= length; length *= static_cast<double>(options_.mult)) into -= length;
    const double wave = (1 + std::cos(std::numbers::pi * into / length)) / 2;
    return floor_ + (lr_ - floor_) * wave;
  }

 private:
  /// Cycles that fill a run are whole numbers of such parts: their ends are exact. No cycle is
  /// shorter than a step or an epoch.
  double parts_of_a_tick(const Timeline& time) const {
    double parts = 0, length = 1;
    for (std::int64_t i = 0; i < options_.num_cycles.value_or(1) && parts < time.total(); ++i) {
      parts += length;
      length *= static_cast<double>(options_.mult);
    }
    return std::min(parts, time.total());
  }

  /// In parts.
  double first_cycle(const Timeline& time) const {
    if (options_.num_cycles) return time.total();
    return std::max(1.0, time.ticks(options_.period.value_or(epochs(1))));
  }

  double joined(const Timeline& time, double first) const {
    std::vector<double> shares;
    std::vector<Curve> curves;
    double length = first;
    for (double begin = 0; begin < time.total(); length *= static_cast<double>(options_.mult)) {
      shares.push_back(length / time.total());
      curves.push_back({Anneal::cosine, lr_, floor_});
      begin += length;
    }
    return JoinedCurves(shares, std::move(curves)).at(time.share());
  }

  Options options_;
  double lr_, floor_;
};

}  // namespace

Entry<Schedule> cosine_restarts_schedule() {
  return schedule_entry<CosineRestartsSchedule>(
      "cosine_restarts", "Half cosines that begin again, each longer than the one before.");
}

}  // namespace ddptrain
