#include "accelerator/cuda/graph.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <torch/version.h>

#include <exception>
#include <map>
#include <mutex>

namespace ddptrain {
namespace {

/// LibTorch 2.11's graph leaves the allocator as it is where a capture fails: no memory that a
/// stream used would come back. So a failed capture is ended here.
class CudaGraph final : public DeviceGraph, private at::cuda::CUDAGraph {
 public:
  /// On the current stream. Other threads (loaders, the writer of checkpoints, NCCL's) may go on
  /// with calls that no capture permits.
  explicit CudaGraph(const DeviceWork& work) {
    capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      work();
      capture_end();
    } catch (...) {
      if (!capture_ended_) abandon();
      throw;
    }
  }

  void replay() override { at::cuda::CUDAGraph::replay(); }

 private:
  void abandon() noexcept {
    cudaGraph_t broken = nullptr;
    cudaStreamEndCapture(capture_stream_, &broken);  // which says that it is broken
    if (broken != nullptr) cudaGraphDestroy(broken);
    cudaGetLastError();
#if TORCH_VERSION_MINOR < 15  // later, the destructor ends what a failed capture began
    try {
      c10::cuda::CUDACachingAllocator::endAllocateToPool(capture_dev_, mempool_id_);
      at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(mempool_id_);
      capture_ended_ = true;  // the destructor gives its memory back
    } catch (const std::exception&) {
      // Its memory stays where it is; the capture's own error says what happened.
    }
#endif
  }
};

/// One for all captures of a device. cuBLAS has a workspace for each stream and thread, which
/// LibTorch keeps: of a stream for each graph they would stay when the graph is dropped, 64 MiB on
/// an H100.
c10::cuda::CUDAStream capture_stream(c10::DeviceIndex device) {
  static std::mutex mutex;
  static std::map<c10::DeviceIndex, c10::cuda::CUDAStream> streams;
  const std::lock_guard lock(mutex);
  const auto found = streams.find(device);
  if (found != streams.end()) return found->second;
  return streams.emplace(device, c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device))
      .first->second;
}

}  // namespace

std::unique_ptr<DeviceGraph> capture_cuda_graph(int device, const DeviceWork& work) {
  const auto index = static_cast<c10::DeviceIndex>(device);
  const c10::cuda::CUDAGuard on(index);
  const c10::cuda::CUDAStreamGuard stream(capture_stream(index));
  return std::make_unique<CudaGraph>(work);
}

}  // namespace ddptrain
