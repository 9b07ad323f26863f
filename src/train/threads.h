// Compute threads where the recipe leaves them to the machine.
#pragma once

#include "train/training.h"

namespace ddptrain {

/// Operations of a micro-batch's forward pass below which one thread computes: a parallel region
/// costs some ten microseconds, in which a core makes a million operations, and a step has dozens.
inline constexpr double kLeastParallelFlops = 2e7;

/// Under `train.threads: auto` on the CPU, work below kLeastParallelFlops gets one thread. Only
/// arithmetic decides, so that all ranks and every repetition choose the same. To be called before
/// the first step.
void settle_threads(Training& training);

}  // namespace ddptrain
