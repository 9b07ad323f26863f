// Steps on an accelerator.
#pragma once

#include "train/step/step.h"

namespace ddptrain {

std::unique_ptr<Stepper> make_device_stepper(Training& training, const RunState& state,
                                             Stepper::GradientHook hook);

}  // namespace ddptrain
