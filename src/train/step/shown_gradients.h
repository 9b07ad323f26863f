// The gradients of a step as an optimizer is about to take them.
#pragma once

#include <cstdint>

#include "train/step/step.h"

namespace ddptrain {

/// Calls the hook on rank 0 with all parameters and their whole gradients, wherever ranks have
/// them; where it changes gradients that ranks share, the step does not notice. All ranks call it
/// together, all with a hook or all without one.
void show_gradients(Training& training, const Stepper::GradientHook& hook, std::int64_t step);

}  // namespace ddptrain
