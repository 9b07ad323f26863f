// Which evaluation of a run was best, and by what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recipe/recipe.h"
#include "runs/run_record.h"

namespace ddptrain {

/// A metric that tells evaluations apart: "valid/accuracy".
struct WatchedMetric {
  std::string name;
  BestMode mode = BestMode::max;
};

/// That of checkpoint.keep_best, else the first of `metrics` that is one number, or the loss; empty
/// where nothing says which way it gets better.
std::optional<WatchedMetric> watched_metric(const Recipe& recipe);

/// The best row of a run's metrics.csv; of equal ones the first, as checkpoint.keep_best has it.
/// The file of a resumed run equals an uninterrupted one's, so the answer does too. Empty where
/// there is no file, or no number for the metric.
std::optional<BestEvaluation> best_evaluation(const std::string& metrics_csv,
                                              const WatchedMetric& watched);

}  // namespace ddptrain
