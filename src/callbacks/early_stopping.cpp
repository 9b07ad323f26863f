// Ends a run that has stopped getting better (fastai.callback.tracker.EarlyStoppingCallback).
#include <fmt/format.h>

#include "base/json.h"
#include "callbacks/best.h"
#include "callbacks/callback.h"

namespace ddptrain {
namespace {

class EarlyStopping final : public Callback {
 public:
  struct Options {
    std::string metric = "loss";
    Auto<BestMode> mode;
    std::int64_t patience = 3;
    double min_delta = 0;
    void fields(Fields& f) {
      f("metric", metric, {.doc = "What to watch; a bare name means valid/NAME."});
      f("mode", mode,
        {.doc = "Whether the best is the largest or the smallest; auto: as the metric says."});
      f("patience", patience,
        {.doc = "The run ends after this many evaluations in a row without a new best.",
         .min = 1,
         .unit = "evaluations"});
      f("min_delta", min_delta, {.doc = "A new best is better by more than this.", .min = 0});
    }
  };

  explicit EarlyStopping(const Options& options)
      : options_(options), best_(resolve(options.mode, options.metric), options.min_delta) {}

  void at(Moment moment, const RunView& run, RunControl& control) override {
    if (moment != Moment::evaluated) return;
    const bool better =
        best_.improves(monitored(run, options_.metric, "callbacks[early_stopping].metric"));
    waited_ = better ? 0 : waited_ + 1;
    if (waited_ < options_.patience) return;
    control.stop = fmt::format("no better {} in {}{}", options_.metric, waited_,
                               waited_ == 1 ? " evaluation" : " evaluations");
  }

  std::string state() const override {
    Json state{{"waited", waited_}, {"best", nullptr}};
    if (best_.value()) state["best"] = *best_.value();
    return json_text(state);
  }

  void load(const std::string& text) override {
    const auto state = parse_json(text);
    waited_ = state.at("waited");
    if (!state.at("best").is_null()) best_.restore(state.at("best").get<double>());
  }

 private:
  Options options_;
  Best best_;
  std::int64_t waited_ = 0;
};

}  // namespace

Entry<Callback> early_stopping_callback() {
  return entry_of<Callback, EarlyStopping>(
      "early_stopping", "Ends a run that has stopped getting better.", {"stops_by_patience"});
}

}  // namespace ddptrain
