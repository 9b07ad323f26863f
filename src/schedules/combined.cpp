// Any curves one after the other (fastai's combine_scheds and combined_cos).
#include <vector>

#include "schedules/curve.h"
#include "schedules/options.h"
#include "schedules/schedule.h"
#include "schedules/timeline.h"

namespace ddptrain {
namespace {

class CombinedSchedule final : public Schedule {
 public:
  struct Part {
    Anneal curve = Anneal::cosine;
    double start = 1;
    double end = 0;
    double power = 1;
    Share share{1};
    void fields(Fields& f) {
      f("curve", curve, {.doc = "How the rate moves."});
      f("start", start, {.doc = "Factor of optimizer.lr at the start of this part.", .min = 0});
      f("end", end, {.doc = "Factor of optimizer.lr at its end.", .min = 0});
      f("power", power, {.doc = "Exponent of a polynomial.", .min = 0});
      f("share", share, {.doc = "Share of the run.", .min = 0, .max = 1});
      f.require(needs(is("curve", "exponential"), "start"));
      f.require(needs(is("curve", "exponential"), "end"));
    }
  };

  struct Options {
    std::vector<Part> parts;
    Warmup warmup;
    void fields(Fields& f) {
      f("parts", parts,
        {.doc = "The curves in order; their shares add up to 100 %.",
         .required = true,
         .example =
             "[{curve: linear, start: 0, end: 1, share: 30 %}, {curve: cosine, share: 70 %}]",
         .min_items = 1});
      warmup.fields(f);
    }
  };

  CombinedSchedule(const Options& options, const ScheduleContext& context)
      : curves_(joined(options)), lr_(context.lr) {}

  double lr(const Progress& at) const override {
    return lr_ * curves_.at(Timeline(at, By::step).share());
  }

 private:
  static JoinedCurves joined(const Options& options) {
    std::vector<double> shares;
    std::vector<Curve> curves;
    for (const auto& part : options.parts) {
      shares.push_back(part.share.value);
      curves.push_back({part.curve, part.start, part.end, part.power});
    }
    return {shares, std::move(curves)};
  }

  JoinedCurves curves_;
  double lr_;
};

}  // namespace

Entry<Schedule> combined_schedule() {
  return schedule_entry<CombinedSchedule>("combined", "Any curves one after the other.");
}

}  // namespace ddptrain
