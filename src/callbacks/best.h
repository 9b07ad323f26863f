// Whether a metric is the best so far.
#pragma once

#include <optional>
#include <string>

#include "callbacks/callback.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// The value of a metric at Moment::evaluated; a bare name means "valid/name". An Error about
/// `option`, which names it, where the evaluation did not bring it.
double monitored(const RunView& run, const std::string& metric, const std::string& option);

/// What "better" means: as asked, which for a loaded recipe is what the metric says
/// (recipe/load/load.h). An `auto` that is left, of an unknown metric, is min where the name
/// holds "loss" or "error", else max (fastai's TrackerCallback).
BestMode resolve(const Auto<BestMode>& mode, const std::string& metric);

/// Remembers the best of a row of values; not a number is never best.
class Best {
 public:
  /// A value must be better by more than `min_delta`.
  explicit Best(BestMode mode, double min_delta = 0) : mode_(mode), min_delta_(min_delta) {}
  /// Takes a value in; true when it is the best so far (fastai.callback.tracker).
  bool improves(double value);
  /// Empty before the first.
  std::optional<double> value() const { return best_; }
  void restore(std::optional<double> value) { best_ = value; }

 private:
  BestMode mode_;
  double min_delta_;
  std::optional<double> best_;
};

}  // namespace ddptrain
