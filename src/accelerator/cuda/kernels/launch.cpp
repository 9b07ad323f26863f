#include "accelerator/cuda/kernels/launch.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "accelerator/cuda/kernels/compiler.h"

namespace ddptrain {
namespace {

constexpr int kBlock = 256, kBlocksOfAProcessor = 16;

// Next to the CUDA runtime, as in NVIDIA's wheels; else where the loader looks.
std::vector<std::string> nvrtc_libraries() {
  const auto name = fmt::format("libnvrtc.so.{}", CUDART_VERSION / 1000);
  Dl_info runtime{};
  std::vector<std::string> all;
  if (::dladdr(reinterpret_cast<const void*>(&cudaGetDeviceCount), &runtime) != 0) {
    const std::string path = runtime.dli_fname;
    all.push_back(path.substr(0, path.rfind('/') + 1) + name);
  }
  all.push_back(name);
  return all;
}

int attribute(cudaDeviceAttr what) {
  int device = 0, value = 0;
  C10_CUDA_CHECK(cudaGetDevice(&device));
  C10_CUDA_CHECK(cudaDeviceGetAttribute(&value, what, device));
  return value;
}

struct Device {
  int capability, processors;
};

Device current_device() {
  return {attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
              attribute(cudaDevAttrComputeCapabilityMinor),
          attribute(cudaDevAttrMultiProcessorCount)};
}

/// What was compiled in this process. The driver loads a library onto the devices that use it.
class Compiled {
 public:
  cudaKernel_t kernel(const KernelText& text, const std::string& name, int capability) {
    const std::lock_guard lock(mutex_);
    auto& kernel = kernels_[{capability, name}];
    if (kernel == nullptr)
      C10_CUDA_CHECK(cudaLibraryGetKernel(&kernel, library(text, capability), name.c_str()));
    return kernel;
  }

 private:
  cudaLibrary_t library(const KernelText& text, int capability) {
    auto& library = libraries_[{capability, text.name}];
    if (library == nullptr) {
      static const KernelCompiler compiler(nvrtc_libraries());
      const auto code = compiler.compile(text, capability);
      C10_CUDA_CHECK(
          cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    }
    return library;
  }

  std::mutex mutex_;
  std::map<std::pair<int, std::string>, cudaLibrary_t> libraries_;
  std::map<std::pair<int, std::string>, cudaKernel_t> kernels_;
};

}  // namespace

void launch_kernel(const KernelText& text, const std::string& name, std::int64_t threads,
                   void** arguments) {
  static Compiled compiled;
  const auto device = current_device();
  const auto kernel = compiled.kernel(text, name, device.capability);
  const std::int64_t blocks = std::min<std::int64_t>((threads + kBlock - 1) / kBlock,
                                                     device.processors * kBlocksOfAProcessor);
  C10_CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel),
                                  dim3(static_cast<unsigned>(blocks)), dim3(kBlock), arguments, 0,
                                  c10::cuda::getCurrentCUDAStream()));
}

}  // namespace ddptrain
