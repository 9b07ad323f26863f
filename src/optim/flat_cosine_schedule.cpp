// The rate as it is, then half a cosine down (fastai's fit_flat_cos).
#include <algorithm>

#include "optim/curve.h"
#include "optim/schedule_catalog.h"
#include "optim/timeline.h"
#include "optim/warmup.h"

namespace ddptrain {
namespace {

class FlatCosineSchedule final : public Schedule {
 public:
  struct Options {
    Duration flat{0.75, Duration::Unit::share};
    double div_final = 1e5;
    Warmup warmup;
    void fields(Fields& f) {
      f("flat", flat, {.doc = "How long the rate stays before it falls."});
      f("div_final", div_final,
        {.doc = "The rate divided by this is reached at the end of the run.",
         .min = 0,
         .above_min = true});
      warmup.fields(f);
    }
  };

  FlatCosineSchedule(const Options& options, const ScheduleContext& context)
      : options_(options), lr_(context.lr) {
    require_steps(options_.flat, "schedule.flat");
  }

  double lr(const Progress& at) const override {
    const Timeline time(at, By::step);
    const double flat = std::min(1.0, time.share(options_.flat));
    return two_cosines(flat, lr_, lr_, lr_ / options_.div_final)
        .at(std::min(1.0, time.position() / time.total()));
  }

 private:
  Options options_;
  double lr_;
};

}  // namespace

Entry<Schedule> flat_cosine_schedule() {
  return schedule_entry<FlatCosineSchedule>("flat_cosine",
                                            "Flat for most of the run, then half a cosine down.");
}

}  // namespace ddptrain
