// What the files of libcudart share.
#pragma once

#pragma GCC visibility push(default)
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include <string>
#include <vector>

#include "cuda_stand_in/core/captures.h"
#include "cuda_stand_in/core/gpus.h"
#include "cuda_stand_in/core/report.h"

namespace ddptrain::stand_in {

/// Kept for cudaGetLastError, and given back.
cudaError_t result(int error);

/// Copies as the runtime does: from pageable memory its bytes are taken at once, to pageable memory
/// the host waits; from and to pinned memory as late as the stream's order permits.
int copy(GpuStream& stream, void* to, const void* from, std::size_t bytes);

/// The reads and writes of one of our kernels (src/accelerator/cuda/kernels) in so many blocks
/// along x; none of others.
std::vector<MemoryAccess> accesses_of(const std::string& kernel, unsigned blocks, void** arguments);

/// Watches the blocks of LibTorch's allocator, once it is there (blocks.cpp).
void watch_blocks();

}  // namespace ddptrain::stand_in
