// A run to a Checkpoint and back: everything that a resumed run needs to go on bit for bit.
#pragma once

#include <optional>

#include "checkpoint/checkpoint.h"
#include "train/run_state.h"
#include "train/training_plan.h"

namespace ddptrain {

struct Training;

/// Where a run begins.
RunState first_state(const Training& training);

/// This rank's part of weights, optimizer and averages, and state.json with the state, callbacks
/// and what must be equal for a resume to be exact (build, world, threads). No times, no paths. All
/// ranks call it together; where each has all, they divide the bytes.
CheckpointParts capture(const Training& training, const RunState& state);

/// Gives the parts of a freshly built Training what they had learned, and returns where the run
/// stands. Says through the log where the resume cannot be exact (another world, threads, build);
/// throws an Error (Exit::data) naming tensors that do not fit.
RunState restore(Training& training, const Checkpoint& checkpoint);

/// Weights and averages alone, for evaluation.
void restore_weights(Training& training, const Checkpoint& checkpoint);

/// What build() must know of the data that the checkpoint's model was trained on.
SavedData saved_data(const Checkpoint& checkpoint);

}  // namespace ddptrain
