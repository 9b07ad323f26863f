// model.weights: a run that starts from weights of another.
#pragma once

#include "train/training.h"

namespace ddptrain {

/// Loads what the recipe's `model.weights` names, if anything, and says what was taken. Throws an
/// Error (Exit::data) where it does not fit.
void start_from_weights(Training& training);

}  // namespace ddptrain
