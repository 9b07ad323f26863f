// The weights of a checkpoint whose run averages them.
#pragma once

#include <vector>

#include "models/module.h"

namespace ddptrain {

struct Checkpoint;

/// The averaged parameters over the model's own tensors; buffers where the average has its own. An
/// Error (Exit::recipe) where the run keeps no average.
std::vector<NamedTensor> averaged_weights(const Checkpoint& checkpoint);

}  // namespace ddptrain
