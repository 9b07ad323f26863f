// Compute threads where the recipe leaves them to the machine.
#pragma once

namespace ddptrain {

struct Training;

/// Operations of a micro-batch's forward pass below which one thread computes: a parallel region
/// costs some ten microseconds, in which a core makes a million operations, and a step has dozens.
inline constexpr double kLeastParallelFlops = 2e7;

/// Those of a rank: as placed, but one under `train.threads: auto` on the CPU for work below
/// kLeastParallelFlops. Only arithmetic decides, so that all ranks and every repetition choose the
/// same.
int worthwhile_threads(const Training& training);

}  // namespace ddptrain
