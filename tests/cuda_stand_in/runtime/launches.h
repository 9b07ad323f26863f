// Launches of kernels: LibTorch's, ours, and those of NVIDIA's libraries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda_stand_in/core/exported.h"
#include "cuda_stand_in/core/gpus.h"

namespace ddptrain::stand_in {

struct LaunchGrid {
  unsigned blocks[3] = {1, 1, 1};
  unsigned threads[3] = {1, 1, 1};
  std::size_t shared_bytes = 0;
};

/// A number of cudaError_t. A fault where the grid is empty or larger than a device takes.
STAND_IN_API int launch_kernel(const std::string& name, const LaunchGrid& grid,
                               std::vector<MemoryAccess> accesses, GpuStream& stream);

/// Whether the stream's device is lost, which it is after N kernels under STAND_IN_FAIL=DEVICE:N;
/// it is about to get so many more.
bool is_lost(const GpuStream& stream, std::size_t kernels);

/// What a library does on a stream: a kernel of a grid that is the library's own business.
STAND_IN_API void library_kernel(const std::string& name, const void* stream,
                                 std::vector<MemoryAccess> accesses);

}  // namespace ddptrain::stand_in
