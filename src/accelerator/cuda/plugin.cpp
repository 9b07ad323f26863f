// libddptrain_cuda.so: what CUDA offers to the engine. Opening it brings libtorch_cuda and thereby
// every CUDA kernel.
#include "accelerator/plugin.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>
#include <torch/version.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "accelerator/cuda/graph.h"
#include "accelerator/cuda/jpeg.h"
#include "accelerator/cuda/kernels/launch.h"
#include "base/error.h"

namespace ddptrain {
namespace {

c10::DeviceIndex index_of(int device) { return static_cast<c10::DeviceIndex>(device); }

/// Of a device, which need not have been used; asking takes milliseconds, so it is asked once.
const cudaDeviceProp& properties(int device) {
  static std::mutex mutex;
  static std::map<int, cudaDeviceProp> known;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(device);
  if (is_new) C10_CUDA_CHECK(cudaGetDeviceProperties(&found->second, device));
  return found->second;
}

std::string dotted(std::initializer_list<int> parts) {
  std::string text;
  for (const int part : parts) text += (text.empty() ? "" : ".") + std::to_string(part);
  return text;
}

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

/// Two ranks on one GPU, which NCCL refuses in one node; for scripts/gpu-check. Gloo has no
/// all_gather of CUDA tensors, which sync_bn wants.
bool groups_are_gloo() {
  const char* wanted = std::getenv("DDPTRAIN_CUDA_GROUP");
  return wanted != nullptr && std::strcmp(wanted, "gloo") == 0;
}

class Cuda final : public Accelerator {
 public:
  c10::DeviceType type() const override { return c10::kCUDA; }
  int count() const override {
    try {
      return c10::cuda::device_count_ensure_non_zero();
    } catch (const c10::Error& error) {
      throw Error(Exit::device,
                  std::string("CUDA cannot be used: ") + error.what_without_backtrace());
    }
  }

  DeviceFacts facts(int device) const override {
    const auto& found = properties(device);
    // Tensor cores compute in half precision over NHWC since 7.0, and in bf16 since 8.0.
    return {found.name,
            fmt::format("{}.{}", found.major, found.minor),
            static_cast<std::int64_t>(found.totalGlobalMem),
            {.has_bf16 = found.major >= 8, .gains_by_channels_last = found.major >= 7}};
  }

  bool peer_access(int from, int to) const override {
    int can = 0;
    C10_CUDA_CHECK(cudaDeviceCanAccessPeer(&can, from, to));
    return can != 0;
  }

  std::vector<std::pair<std::string, std::string>> versions() const override {
    int driver = 0, runtime = 0, nccl = 0;
    cudaDriverGetVersion(&driver);  // 0 where there is none
    cudaRuntimeGetVersion(&runtime);
    ncclGetVersion(&nccl);
    const auto cudnn = static_cast<int>(at::detail::getCUDAHooks().versionRuntimeCuDNN());
    // 13020 is CUDA 13.2, 91900 cuDNN 9.19.0, 22809 NCCL 2.28.9.
    const auto cuda = [](int number) { return dotted({number / 1000, number % 1000 / 10}); };
    const auto library = [](int number) {
      return dotted({number / 10000, number % 10000 / 100, number % 100});
    };
    return {{"driver", driver > 0 ? "for CUDA " + cuda(driver) : "missing"},
            {"CUDA runtime", cuda(runtime)},
            {"cuDNN", library(cudnn)},
            {"NCCL", library(nccl)}};
  }

  void select(int device) const override { c10::cuda::set_device(index_of(device)); }

  // Without it every matrix product is refused under deterministic algorithms.
  void be_deterministic() const override { ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0); }

  DeviceMemory memory(int device) const override {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(index_of(device));
    const auto& reserved = stats.reserved_bytes[0];  // [0]: over all pools
    return {reserved.current, reserved.peak, facts(device).memory};
  }

  void reset_peak_memory(int device) const override {
    c10::cuda::CUDACachingAllocator::resetPeakStats(index_of(device));
  }

  void empty_cache() const override { c10::cuda::CUDACachingAllocator::emptyCache(); }

  // LibTorch's allocator of pinned memory rounds up to a power of two.
  c10::DataPtr host_memory(std::int64_t bytes) const override {
    void* data = nullptr;
    C10_CUDA_CHECK(cudaHostAlloc(&data, static_cast<std::size_t>(bytes), cudaHostAllocPortable));
    const auto free = [](void* memory) { C10_CUDA_CHECK_WARN(cudaFreeHost(memory)); };
    return {data, data, free, c10::Device(c10::kCPU)};
  }

  DeviceJpegDecoder jpeg_decoder(int device) const override { return make_nvjpeg(device); }

  std::unique_ptr<DeviceGraph> capture(int device, const DeviceWork& work) const override {
    return capture_cuda_graph(device, work);
  }

  Backend process_group(const Store& store, const BackendOptions& options,
                        int device) const override {
    if (groups_are_gloo()) return make_gloo(store, options);
    // Like Gloo's device: between processes of one node nothing leaves it.
    if (options.loopback) ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    // It aborts the process without a word to us; signs of life are the launcher's business.
    ::setenv("TORCH_NCCL_ENABLE_MONITORING", "0", 0);
    // A watchdog that finds an error sleeps for a minute, for a dump that only monitoring writes.
    ::setenv("TORCH_NCCL_DUMP_ON_TIMEOUT", "0", 0);
    try {
      return connect(store, options, device);
    } catch (const std::exception& error) {
      const std::string what = error.what();
      throw Error(Exit::device, "rank {}, NCCL of the {} group: {}", options.rank, options.name,
                  what.substr(0, what.find('\n')));
    }
  }
};

void require_same(const char* library, int built_with, int found) {
  const auto conflict = version_conflict(library, built_with, found);
  if (!conflict.empty()) throw Error(Exit::device, "CUDA cannot be used: {}", conflict);
}

// ProcessGroupNCCL's options hold a struct of nccl.h: with another version's library they would be
// read beyond their end.
const Accelerator& open_cuda(const PluginHost& host) {
  keep_code_by(host.cached_code);
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
