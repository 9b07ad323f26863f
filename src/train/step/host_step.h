// Steps on the CPU.
#pragma once

#include "train/step/step.h"

namespace ddptrain {

std::unique_ptr<Stepper> make_host_stepper(Training& training, const RunState& state,
                                           Stepper::GradientHook hook);

}  // namespace ddptrain
