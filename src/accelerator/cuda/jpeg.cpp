#include "accelerator/cuda/jpeg.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "accelerator/cuda/nvjpeg_library.h"
#include "base/error.h"

namespace ddptrain {
namespace {

void require(nvjpeg::Status status, const char* function) {
  if (status != nvjpeg::success)
    throw Error(Exit::device, "nvJPEG: {} ended with status {}", function, status);
}

/// Memory of the device, and as much of the host that it copies to, which grow.
class Buffers {
 public:
  Buffers() = default;
  ~Buffers() { free(); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  void reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    free();
    C10_CUDA_CHECK(cudaMalloc(&device_, bytes));
    C10_CUDA_CHECK(cudaHostAlloc(&host_, bytes, cudaHostAllocDefault));
    bytes_ = bytes;
  }
  unsigned char* device() const { return static_cast<unsigned char*>(device_); }
  void* host() const { return host_; }

 private:
  void free() {
    bytes_ = 0;
    C10_CUDA_CHECK_WARN(cudaFree(std::exchange(device_, nullptr)));
    C10_CUDA_CHECK_WARN(cudaFreeHost(std::exchange(host_, nullptr)));
  }

  void *device_ = nullptr, *host_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What one image needs while it is decoded. Not LibTorch's allocator and streams: a thread of the
/// loader has nothing to do with a graph that is being captured.
class Lane {
 public:
  explicit Lane(nvjpeg::Handle handle) : handle_(handle) {
    C10_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    require(nvjpeg::library().create_state(handle_, &state_), "nvjpegJpegStateCreate");
  }
  ~Lane() {
    nvjpeg::library().destroy_state(state_);
    C10_CUDA_CHECK_WARN(cudaStreamDestroy(stream_));
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  bool decode(const JpegImage& image) {
    const auto row = static_cast<std::size_t>(image.width) * image.channels;
    const auto bytes = row * image.height;
    buffers_.reserve(bytes);
    nvjpeg::Planes planes{{buffers_.device()}, {row}};
    const auto output = image.channels == 1 ? nvjpeg::gray : nvjpeg::interleaved_rgb;
    const auto status = nvjpeg::library().decode(handle_, state_, image.file.data(),
                                                 image.file.size(), output, &planes, stream_);
    if (status == nvjpeg::bad_jpeg || status == nvjpeg::jpeg_not_supported ||
        status == nvjpeg::incomplete_bitstream)
      return false;
    require(status, "nvjpegDecode");
    C10_CUDA_CHECK(cudaMemcpyAsync(buffers_.host(), buffers_.device(), bytes,
                                   cudaMemcpyDeviceToHost, stream_));
    C10_CUDA_CHECK(cudaStreamSynchronize(stream_));
    std::memcpy(image.pixels, buffers_.host(), bytes);
    return true;
  }

 private:
  nvjpeg::Handle handle_;
  nvjpeg::State state_ = nullptr;
  cudaStream_t stream_ = nullptr;
  Buffers buffers_;
};

class NvJpeg {
 public:
  explicit NvJpeg(int device) : device_(static_cast<c10::DeviceIndex>(device)) {
    const c10::cuda::CUDAGuard guard(device_);
    require(nvjpeg::library().create(nvjpeg::default_backend, nullptr, nullptr,
                                     nvjpeg::strict | nvjpeg::interpolate, &handle_),
            "nvjpegCreateEx");
  }
  ~NvJpeg() {
    free_.clear();
    nvjpeg::library().destroy(handle_);
  }
  NvJpeg(const NvJpeg&) = delete;
  NvJpeg& operator=(const NvJpeg&) = delete;

  bool decode(const JpegImage& image) {
    const c10::cuda::CUDAGuard guard(device_);
    auto lane = take();
    const bool decoded = lane->decode(image);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(lane));
    return decoded;
  }

 private:
  std::unique_ptr<Lane> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto lane = std::move(free_.back());
        free_.pop_back();
        return lane;
      }
    }
    return std::make_unique<Lane>(handle_);
  }

  c10::DeviceIndex device_;
  nvjpeg::Handle handle_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> free_;  // as many as threads ever decoded at a time
};

}  // namespace

DeviceJpegDecoder make_nvjpeg(int device) {
  const auto decoder = std::make_shared<NvJpeg>(device);
  return [decoder](const JpegImage& image) { return decoder->decode(image); };
}

}  // namespace ddptrain
