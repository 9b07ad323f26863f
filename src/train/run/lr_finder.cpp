#include "train/run/lr_finder.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "metrics/smooth_loss.h"
#include "recipe/eval_splits.h"
#include "train/loop/state.h"
#include "train/training.h"

namespace ddptrain {
namespace {

// fastai.callback.schedule.LRFinder: keeps the curve and stops where it diverges.
class Finder final : public Callback {
 public:
  Finder(LrFindResult& found, const LrFindOptions& options) : found_(found), options_(options) {}

  void at(Moment moment, const RunView& run, RunControl& control) override {
    if (moment != Moment::step_end) return;
    smooth_.add(run.train_loss);
    const double loss = smooth_.value();
    found_.curve.rates.push_back(run.lr);
    found_.curve.losses.push_back(loss);
    found_.losses.push_back(run.train_loss);
    best_ = std::min(best_, loss);
    if (std::isnan(loss))
      control.stop = "the loss is not a number any more";
    else if (options_.stop && loss > 4 * best_)
      control.stop = "the smoothed loss is above four times its best";
  }

  bool steers_each_step() const override { return true; }

 private:
  LrFindResult& found_;
  LrFindOptions options_;
  SmoothLoss smooth_;
  double best_ = std::numeric_limits<double>::infinity();
};

void check(const LrFindOptions& options) {
  if (!(options.start > 0) || !(options.end > options.start) || !std::isfinite(options.end))
    throw Error(Exit::recipe, "rates grow from --start to --end: 0 < start < end");
  if (options.steps < 6) throw Error(Exit::recipe, "--steps: fewer than 6 steps show no curve");
}

}  // namespace

Recipe lr_find_recipe(Recipe recipe, const LrFindOptions& options) {
  check(options);
  recipe.train.freeze = stages_of(recipe).front().freeze;
  recipe.train.stages.clear();
  recipe.train.fine_tune.reset();
  recipe.train.duration = steps(static_cast<double>(options.steps));
  recipe.train.ema.reset();
  recipe.train.swa.reset();
  recipe.checkpoint.keep_best.reset();
  recipe.callbacks.clear();
  drop_splits(recipe);
  recipe.policy.on_non_finite = OnNonFinite::skip;  // such a loss is the curve's end, not an error
  return recipe;
}

LrFindResult find_lr(Training& training, const LrFindOptions& options, Hooks hooks) {
  LrFindResult found;
  Callbacks finder;
  finder.push_back(std::make_unique<Finder>(found, options));
  hooks.evaluate = false;
  hooks.checkpoints.clear();
  auto state = first_state(training);
  const auto ended = train(training, state, hooks, finder);
  found.reason = ended.reason;
  found.signal = ended.signal;
  return found;
}

}  // namespace ddptrain
