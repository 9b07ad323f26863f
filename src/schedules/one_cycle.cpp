// Up to the rate and far down again, momentum the other way (Smith and Topin 2018): fastai's
// fit_one_cycle and torch's OneCycleLR.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "schedules/curve.h"
#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

enum class Ramp { linear, cosine };
std::span<const std::string_view> names(Ramp) { return names(Anneal{}).subspan(1, 2); }

Anneal anneal_of(Ramp ramp) { return ramp == Ramp::linear ? Anneal::linear : Anneal::cosine; }

class OneCycleSchedule final : public Schedule {
 public:
  struct Options {
    Peer like = Peer::fastai;
    Auto<Share> pct_start;
    double div = 25;
    Auto<double> div_final;
    Ramp anneal = Ramp::cosine;
    bool three_phase = false;
    std::optional<std::vector<double>> moms{{0.95, 0.85, 0.95}};
    Warmup warmup;
    void fields(Fields& f);
  };

  OneCycleSchedule(const Options& options, const ScheduleContext& context);

  double lr(const Progress& at) const override { return value(at, rates_); }
  std::optional<double> momentum(const Progress& at) const override {
    if (!moms_) return {};
    return value(at, *moms_);
  }

 private:
  using Knots = std::array<double, 4>;  // start, peak, end of phase two, end

  double value(const Progress& at, const Knots& knots) const {
    return like_ == Peer::fastai ? as_fastai(at, knots) : as_torch(at, knots);
  }
  double as_fastai(const Progress& at, const Knots& knots) const;
  double as_torch(const Progress& at, const Knots& knots) const;

  Peer like_;
  double share_;
  Anneal anneal_;
  bool three_phase_;
  Knots rates_;
  std::optional<Knots> moms_;
};

void OneCycleSchedule::Options::fields(Fields& f) {
  f("like", like,
    {.doc = "Whose numbers: torch's reach the end in the last step, fastai's just after it."});
  f("pct_start", pct_start,
    {.doc = "Share of the run that rises; auto: 25 % like fastai, 30 % like torch.",
     .min = 0,
     .max = 1});
  f("div", div,
    {.doc = "The run begins at optimizer.lr divided by this.", .min = 0, .above_min = true});
  f("div_final", div_final,
    {.doc = "The run ends at the rate divided by this: fastai divides optimizer.lr (auto: 1e5), "
            "torch the first rate (auto: 1e4).",
     .min = 0,
     .above_min = true});
  f("anneal", anneal, {.doc = "Shape of the ways."});
  f("three_phase", three_phase,
    {.doc = "Down to the first rate as fast as up, then on to the last."});
  f("moms", moms,
    {.doc = "Momentum (first beta) at start, peak and end; null leaves the optimizer's own.",
     .min = 0,
     .max = 1,
     .below_max = true,
     .min_items = 3,
     .max_items = 3});
  warmup.fields(f);
  f.require(needs("three_phase", is("like", "torch")));
}

OneCycleSchedule::OneCycleSchedule(const Options& options, const ScheduleContext& context)
    : like_(options.like), anneal_(anneal_of(options.anneal)), three_phase_(options.three_phase) {
  const bool fastai = like_ == Peer::fastai;
  share_ = options.pct_start.value.value_or(Share{fastai ? 0.25 : 0.3}).value;
  const double first = context.lr / options.div;
  const double last = fastai ? context.lr / options.div_final.value.value_or(1e5)
                             : first / options.div_final.value.value_or(1e4);
  rates_ = {first, context.lr, three_phase_ ? first : last, last};
  if (options.moms && context.momentum) {
    const auto& m = *options.moms;
    moms_ = Knots{m[0], m[1], m[2], m[2]};
  }
}

double OneCycleSchedule::as_fastai(const Progress& at, const Knots& knots) const {
  const JoinedCurves curves({share_, 1 - share_},
                            {{anneal_, knots[0], knots[1]}, {anneal_, knots[1], knots[3]}});
  return curves.at(Timeline(at, By::step).share());
}

/// Phases end at whole steps less one (torch.optim.lr_scheduler.OneCycleLR).
double OneCycleSchedule::as_torch(const Progress& at, const Knots& knots) const {
  const Timeline time(at, By::step);
  const double last = std::max(1.0, time.total() - 1);
  const double rise = share_ * time.total() - 1;
  const std::array<double, 4> ends{0, rise, three_phase_ ? 2 * share_ * time.total() - 2 : last,
                                   last};
  const double step = std::min(time.position(), last);
  std::size_t phase = 0;
  while (phase < 2 && step > ends[phase + 1]) ++phase;
  const double length = ends[phase + 1] - ends[phase];
  const Curve curve{anneal_, knots[phase], knots[phase + 1]};
  return curve.at(length > 0 ? (step - ends[phase]) / length : 1);
}

}  // namespace

Entry<Schedule> one_cycle_schedule() {
  return schedule_entry<OneCycleSchedule>(
      "one_cycle", "Up to the rate and far down again, momentum the other way.", {"momentum"});
}

}  // namespace ddptrain
