// CUDA graphs, by LibTorch's.
#pragma once

#include <memory>

#include "accelerator/graph.h"

namespace ddptrain {

/// Accelerator::capture.
std::unique_ptr<DeviceGraph> capture_cuda_graph(int device, const DeviceWork& work);

}  // namespace ddptrain
