// libddptrain_cuda.so: what CUDA offers to the engine. Opening it brings libtorch_cuda and thereby
// every CUDA kernel.
#include "accelerator/plugin.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <torch/version.h>

#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "base/error.h"

namespace ddptrain {
namespace {

c10::DeviceIndex index_of(int device) { return static_cast<c10::DeviceIndex>(device); }

c10::intrusive_ptr<c10d::ProcessGroupNCCL> connect(const Store& store,
                                                   const BackendOptions& options, int device) {
  auto keys = c10::make_intrusive<c10d::PrefixStore>(options.name + "/", store);
  auto nccl = c10d::ProcessGroupNCCL::Options::create();
  nccl->timeout = options.timeout;
  nccl->group_name = options.name;
  auto made = c10::make_intrusive<c10d::ProcessGroupNCCL>(keys, options.rank, options.size,
                                                          std::move(nccl));
  const c10::Device on(c10::kCUDA, index_of(device));
  made->setBoundDeviceId(on);
  made->eagerConnectSingleDevice(on);
  return made;
}

class Cuda final : public Accelerator {
 public:
  c10::DeviceType type() const override { return c10::kCUDA; }
  int count() const override { return c10::cuda::device_count_ensure_non_zero(); }

  std::string name(int device) const override {
    cudaDeviceProp properties{};
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    return properties.name;
  }

  void select(int device) const override { c10::cuda::set_device(index_of(device)); }

  // Without it every matrix product is refused under deterministic algorithms.
  void be_deterministic() const override { ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0); }

  DeviceMemory memory(int device) const override {
    const c10::cuda::CUDAGuard guard(index_of(device));
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index_of(device));
    const auto& reserved = stats.reserved_bytes[0];  // [0]: over all pools
    std::size_t free = 0, total = 0;
    C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return {reserved.current, reserved.peak, static_cast<std::int64_t>(total)};
  }

  void reset_peak_memory(int device) const override {
    c10::cuda::CUDACachingAllocator::resetPeakStats(index_of(device));
  }

  void empty_cache() const override { c10::cuda::CUDACachingAllocator::emptyCache(); }

  Backend process_group(const Store& store, const BackendOptions& options,
                        int device) const override {
    // Like Gloo's device: between processes of one node nothing leaves it.
    if (options.loopback) ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    // It aborts the process without a word to us; signs of life are the launcher's business.
    ::setenv("TORCH_NCCL_ENABLE_MONITORING", "0", 0);
    try {
      return connect(store, options, device);
    } catch (const std::exception& error) {
      const std::string what = error.what();
      throw Error(Exit::device, "rank " + std::to_string(options.rank) + ", NCCL of the " +
                                    options.name + " group: " + what.substr(0, what.find('\n')));
    }
  }
};

void require_same(const char* library, int built_with, int found) {
  const auto conflict = version_conflict(library, built_with, found);
  if (!conflict.empty()) throw Error(Exit::device, "CUDA cannot be used: " + conflict);
}

// ProcessGroupNCCL's options hold a struct of nccl.h: with another version's library they would be
// read beyond their end.
const Accelerator& open_cuda() {
  int runtime = 0, nccl = 0;
  cudaRuntimeGetVersion(&runtime);
  ncclGetVersion(&nccl);
  require_same("the CUDA runtime", CUDART_VERSION, runtime);
  require_same("NCCL", NCCL_VERSION_CODE, nccl);
  static const Cuda cuda;
  return cuda;
}

}  // namespace
}  // namespace ddptrain

extern "C" __attribute__((visibility("default"))) const ddptrain::AcceleratorPlugin*
ddptrain_accelerator() {
  static const ddptrain::AcceleratorPlugin plugin{ddptrain::AcceleratorPlugin::current,
                                                  TORCH_VERSION, ddptrain::open_cuda};
  return &plugin;
}
