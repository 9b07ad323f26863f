// The door to the CUDA plug-in, which is opened only when a recipe asks for CUDA.
#pragma once

#include "distributed/cuda/plugin.h"

namespace ddptrain {

/// Opens libddptrain_cuda.so (beside the program, in ../lib, or where the loader looks) once. An
/// Error (Exit::device) says why it cannot be used and what would do.
const CudaPlugin& cuda_plugin();

}  // namespace ddptrain
