// What it takes to load a sample.
#pragma once

#include "recipe/recipe.h"

namespace ddptrain {

/// Seconds of one CPU core for a training sample of a recipe, transforms included: the mean over
/// the first of an epoch, for a second at most. 0 if none can be read.
double load_seconds(const Recipe& recipe);

}  // namespace ddptrain
