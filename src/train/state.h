// A Training to a Checkpoint and back: everything that a resumed run needs to go on bit for bit.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"
#include "train/build.h"

namespace ddptrain {

/// Weights, optimiser, averages, and state.json with position, callbacks and what must be equal for
/// a resume to be exact (build, world, threads). No times, no paths.
Checkpoint capture(const Training& training);

/// Fills a freshly built Training. Says through the log where the resume cannot be exact (another
/// world, threads, build); throws an Error (Exit::data) naming tensors that do not fit.
void restore(Training& training, const Checkpoint& checkpoint);

/// Weights and averages alone, for evaluation.
void restore_weights(Training& training, const Checkpoint& checkpoint);

/// What build() must know of the data that the checkpoint's model was trained on.
SavedData saved_data(const Checkpoint& checkpoint);

}  // namespace ddptrain
