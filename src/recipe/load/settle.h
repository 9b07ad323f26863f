// What a recipe leaves to be derived: the loss and metrics from the targets, and which way is
// better from the metric. Torch-free.
#pragma once

#include "recipe/targets.h"

namespace ddptrain {

/// `loss` and `metrics` become what goes with the targets, where the recipe says `auto`.
void settle_scores(Recipe& recipe, TargetKind targets);

/// The same where the recipe itself tells the targets; then `mode: auto` of checkpoint.keep_best
/// and of callbacks, where the metric that they name is known.
void settle(Recipe& recipe, const Node& tree, const Catalogs& catalogs);

}  // namespace ddptrain
