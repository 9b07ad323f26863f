// The rate as it is, then half a cosine down (fastai's fit_flat_cos).
#include "schedules/curve.h"
#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class FlatCosineSchedule final : public Schedule {
 public:
  struct Options {
    Share flat{0.75};
    double div_final = 1e5;
    Warmup warmup;
    void fields(Fields& f) {
      f("flat", flat, {.doc = "Share of the run before the rate falls."});
      f("div_final", div_final,
        {.doc = "The rate divided by this is reached at the end of the run.",
         .min = 0,
         .above_min = true});
      warmup.fields(f);
    }
  };

  FlatCosineSchedule(const Options& options, const ScheduleContext& context)
      : curve_(two_cosines(options.flat.value, context.lr, context.lr,
                           context.lr / options.div_final)) {}

  double lr(const Progress& at) const override { return curve_.at(Timeline(at, By::step).share()); }

 private:
  JoinedCurves curve_;
};

}  // namespace

Entry<Schedule> flat_cosine_schedule() {
  return schedule_entry<FlatCosineSchedule>("flat_cosine",
                                            "Flat for most of the run, then half a cosine down.");
}

}  // namespace ddptrain
