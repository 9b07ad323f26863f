// By what the evaluations of a run are compared.
#pragma once

#include <optional>

#include "recipe/recipe.h"
#include "runs/best_evaluation.h"

namespace ddptrain {

/// That of checkpoint.keep_best, else the first of `metrics` that is one number, or the loss; empty
/// where nothing says which way it gets better.
std::optional<WatchedMetric> watched_metric(const Recipe& recipe);

}  // namespace ddptrain
