// A checkpoint that all ranks read.
#pragma once

#include <string>

#include "checkpoint/checkpoint.h"

namespace ddptrain {

struct World;

/// All ranks call it together: each verifies a part of the files, and all get the Error
/// (Exit::data) of one that finds damage. Tensors are mapped, so that a rank has in memory what it
/// looks at.
Checkpoint load_together(const std::string& folder, World& world);

}  // namespace ddptrain
