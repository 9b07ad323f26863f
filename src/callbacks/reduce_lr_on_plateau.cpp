// Lowers the rate of a run that has stopped getting better (torch's ReduceLROnPlateau).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/names.h"
#include "callbacks/best.h"
#include "callbacks/callback.h"

namespace ddptrain {
namespace {

enum class ThresholdMode { rel, abs };
std::span<const std::string_view> names(ThresholdMode) { return kNameList<"rel", "abs">; }

class ReduceLrOnPlateau final : public Callback {
 public:
  struct Options {
    std::string metric = "loss";
    Auto<BestMode> mode;
    double factor = 0.1;
    std::int64_t patience = 10;
    double threshold = 1e-4;
    ThresholdMode threshold_mode = ThresholdMode::rel;
    std::int64_t cooldown = 0;
    double min_lr = 0;
    double eps = 1e-8;
    void fields(Fields& f);
  };

  explicit ReduceLrOnPlateau(const Options& options)
      : options_(options), smallest_(resolve(options.mode, options.metric) == BestMode::min) {
    best_ = smallest_ ? infinity : -infinity;
  }

  void at(Moment moment, const RunView& run, RunControl& control) override {
    if (moment != Moment::evaluated) return;
    note(monitored(run, options_.metric, "callbacks[reduce_lr_on_plateau].metric"));
    if (bad_ <= options_.patience) return;
    cooldown_ = options_.cooldown;
    bad_ = 0;
    const double lr = std::max(run.lr * options_.factor, options_.min_lr);
    if (run.lr - lr > options_.eps) control.lr_factor *= lr / run.lr;
  }

  std::string state() const override {
    Json state{{"bad", bad_}, {"cooldown", cooldown_}, {"best", best_}};
    if (std::isinf(best_)) state["best"] = best_ > 0 ? "inf" : "-inf";  // no number in JSON
    return json_text(state);
  }

  void load(const std::string& text) override {
    const auto state = parse_json(text);
    bad_ = state.at("bad");
    cooldown_ = state.at("cooldown");
    const auto& best = state.at("best");
    best_ = best.is_number() ? best.get<double>() : best == "inf" ? infinity : -infinity;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  void note(double value) {
    bad_ = better(value) ? 0 : bad_ + 1;
    if (bad_ == 0) best_ = value;
    if (cooldown_ == 0) return;
    --cooldown_;
    bad_ = 0;
  }

  bool better(double value) const {
    const double t = options_.threshold;
    if (options_.threshold_mode == ThresholdMode::rel)
      return smallest_ ? value < best_ * (1 - t) : value > best_ * (1 + t);
    return smallest_ ? value < best_ - t : value > best_ + t;
  }

  Options options_;
  bool smallest_;
  double best_;
  std::int64_t bad_ = 0;       // evaluations in a row without a new best
  std::int64_t cooldown_ = 0;  // evaluations still to come that do not count
};

void ReduceLrOnPlateau::Options::fields(Fields& f) {
  f("metric", metric, {.doc = "What to watch; a bare name means valid/NAME."});
  f("mode", mode,
    {.doc = "Whether the best is the largest or the smallest; auto: as the metric says."});
  f("factor", factor,
    {.doc = "Factor of the rate.", .min = 0, .max = 1, .above_min = true, .below_max = true});
  f("patience", patience,
    {.doc = "How many evaluations in a row without a new best are let pass; the next one lowers "
            "the rate.",
     .min = 0,
     .unit = "evaluations"});
  f("threshold", threshold, {.doc = "A new best is better by more than this.", .min = 0});
  f("threshold_mode", threshold_mode,
    {.doc = "Whether the threshold is a share of the best or a difference."});
  f("cooldown", cooldown,
    {.doc = "How many evaluations do not count after the rate was lowered.",
     .min = 0,
     .unit = "evaluations"});
  f("min_lr", min_lr, {.doc = "The rate never falls below this.", .min = 0});
  f("eps", eps, {.doc = "A change of the rate of no more than this is left out.", .min = 0});
}

}  // namespace

Entry<Callback> reduce_lr_on_plateau_callback() {
  return entry_of<Callback, ReduceLrOnPlateau>(
      "reduce_lr_on_plateau", "Lowers the rate of a run that has stopped getting better.",
      {"changes_rate"});
}

}  // namespace ddptrain
