// The metric that a callback watches; Best (runs/best_evaluation.h) says whether it is better.
#pragma once

#include <string>

#include "callbacks/callback.h"
#include "recipe/recipe.h"
#include "runs/best_evaluation.h"

namespace ddptrain {

/// The value of a metric at Moment::evaluated; a bare name means "valid/name". An Error about
/// `option`, which names it, where the evaluation did not bring it.
double monitored(const RunView& run, const std::string& metric, const std::string& option);

/// What "better" means: as asked, which for a loaded recipe is what the metric says
/// (recipe/load/load.h). An `auto` that is left, of an unknown metric, is min where the name
/// holds "loss" or "error", else max (fastai's TrackerCallback).
BestMode resolve(const Auto<BestMode>& mode, const std::string& metric);

}  // namespace ddptrain
