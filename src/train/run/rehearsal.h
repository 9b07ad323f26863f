// The least of a run that shows that all of it works on these devices.
#pragma once

#include "train/run/rank.h"

namespace ddptrain {

/// One optimizer step, what follows the last one (batch-norm statistics of an average, evaluation
/// of it and of the model, on one batch of each rank, with eval.samples), and a checkpoint in the
/// job's folder that is written, read, verified and restored. Errors are thrown.
void rehearse(const Job& job, const Topology& topology, const Hooks& hooks);

}  // namespace ddptrain
