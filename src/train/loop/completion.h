// When a run is complete. That is part of its state: all steps were made, its time is up, or a
// callback stopped it.
#pragma once

#include <string>

#include "recipe/recipe.h"
#include "runs/state_json.h"

namespace ddptrain {

/// Changes with what a recipe says of how long a run lasts: its durations and its callbacks. A stop
/// holds as long as that is the same.
std::string asked_length(const Recipe& recipe);

/// Why nothing is left to train after a checkpoint: "stopped: no better loss
/// in 2 evaluations", "done: 8 steps". Empty where something is left.
std::string completion(const Recipe& recipe, const SavedState& state);

/// An override with which a complete run trains on: "train.duration=10 epochs".
std::string extension(const Recipe& recipe, const SavedState& state);

}  // namespace ddptrain
