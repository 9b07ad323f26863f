// The micro-batches of a step.
#pragma once

#include <cstdint>

#include "data/batch.h"
#include "distributed/engine.h"

namespace ddptrain {

struct RunState;
struct StepPlace;
struct Training;

/// The unit of the loss weights for the next step: before the first one, the rows of a batch.
double nominal_of(const Training& training, const RunState& state);

/// The first micro-batch of a step on the host's side.
MicroStep first_micro_step(const Training& training, const RunState& state, const StepPlace& at);

/// The loader's next micro-batch, number `micro` of the step. From the first on that a cut file
/// keeps from being loaded: one without rows, and `at.data_lost` is set.
Batch next_batch(const Training& training, const StepPlace& place, std::int64_t micro,
                 MicroStep& at);

}  // namespace ddptrain
