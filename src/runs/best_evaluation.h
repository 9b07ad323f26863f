// Which evaluation of a run was best, and by what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/named_values.h"
#include "recipe/recipe.h"

namespace ddptrain {

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

/// A metric by which evaluations are compared: "valid/accuracy".
struct WatchedMetric {
  std::string name;
  BestMode mode = BestMode::max;
};

/// The evaluation of a run that was best by one of its metrics.
struct BestEvaluation {
  std::string metric;
  BestMode mode = BestMode::max;
  std::int64_t step = 0;
  NamedValues values;  // all metrics of that evaluation
};

/// The best of the evaluations that were added; of equal ones the first, as checkpoint.keep_best
/// has it.
class BestEvaluationSoFar {
 public:
  explicit BestEvaluationSoFar(WatchedMetric watched)
      : watched_(std::move(watched)), best_(watched_.mode) {}
  void add(std::int64_t step, NamedValues values);
  void clear() { *this = BestEvaluationSoFar(watched_); }
  /// Empty where none had a number for the metric.
  const std::optional<BestEvaluation>& value() const { return found_; }

 private:
  WatchedMetric watched_;
  Best best_;
  std::optional<BestEvaluation> found_;
};

}  // namespace ddptrain
