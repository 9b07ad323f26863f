// libddptrain_cuda.so: process groups over NCCL, device count, memory statistics. Loading it brings
// libtorch_cuda and thereby every CUDA kernel.
#include "distributed/cuda/plugin.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace ddptrain {
namespace {

int device_count() { return static_cast<int>(c10::cuda::device_count()); }

bool memory(int device, CudaMemory* memory) {
  try {
    const auto index = static_cast<c10::DeviceIndex>(device);
    const c10::cuda::CUDAGuard guard(index);
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index);
    const auto& allocated = stats.allocated_bytes[0];  // [0]: over all pools
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return false;
    *memory = {allocated.current, allocated.peak, stats.reserved_bytes[0].current,
               static_cast<std::int64_t>(total)};
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void* nccl(void* store, const char* name, int rank, int size, int device, std::int64_t timeout_ms,
           char* error, std::size_t error_size) {
  try {
    const auto shared =
        c10::intrusive_ptr<c10d::Store>::reclaim_copy(static_cast<c10d::Store*>(store));
    auto keys = c10::make_intrusive<c10d::PrefixStore>(std::string(name) + "/", shared);
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::milliseconds(timeout_ms);
    options->group_name = name;
    auto made = c10::make_intrusive<c10d::ProcessGroupNCCL>(keys, rank, size, std::move(options));
    const at::Device on(at::kCUDA, static_cast<c10::DeviceIndex>(device));
    made->setBoundDeviceId(on);
    made->eagerConnectSingleDevice(on);
    return static_cast<c10d::Backend*>(made.release());
  } catch (const std::exception& caught) {
    std::snprintf(error, error_size, "%s", caught.what());
    return nullptr;
  }
}

}  // namespace
}  // namespace ddptrain

extern "C" __attribute__((visibility("default"))) const ddptrain::CudaPlugin*
ddptrain_cuda_plugin() {
  static const ddptrain::CudaPlugin plugin{ddptrain::CudaPlugin::current, ddptrain::device_count,
                                           ddptrain::memory, ddptrain::nccl};
  return &plugin;
}
