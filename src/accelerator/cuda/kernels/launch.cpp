#include "accelerator/cuda/kernels/launch.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace ddptrain {
namespace {

constexpr int kBlocksOfAProcessor = 16;

CodeCache code_cache = nullptr;

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

int capability() {
  return attribute(cudaDevAttrComputeCapabilityMajor) * 10 +
         attribute(cudaDevAttrComputeCapabilityMinor);
}

/// What is loaded in this process. The driver loads a library onto the devices that use it.
class Loaded {
 public:
  cudaKernel_t kernel(const KernelName& name, int capability) {
    const std::lock_guard lock(mutex_);
    auto& kernel = kernels_[{capability, name.name, name.macros}];
    if (kernel == nullptr)
      C10_CUDA_CHECK(cudaLibraryGetKernel(&kernel, library(name, capability), name.name.c_str()));
    return kernel;
  }

 private:
  cudaLibrary_t library(const KernelName& name, int capability) {
    auto& library = libraries_[{capability, name.text.name, name.type, name.macros}];
    if (library == nullptr) {
      static const KernelCompiler compiler(nvrtc_libraries());
      const KernelCode wanted{name.text, name.type, capability, name.macros};
      const auto compile = [&] { return compiler.compile(wanted); };
      const auto code = code_cache ? code_cache(compiler.description(wanted), compile) : compile();
      C10_CUDA_CHECK(
          cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    }
    return library;
  }

  std::mutex mutex_;
  using Macros = std::vector<std::string>;
  std::map<std::tuple<int, std::string, std::string, Macros>, cudaLibrary_t> libraries_;
  std::map<std::tuple<int, std::string, Macros>, cudaKernel_t> kernels_;
};

}  // namespace

void keep_code_by(CodeCache cache) { code_cache = cache; }

int processors() { return attribute(cudaDevAttrMultiProcessorCount); }

void launch_kernel(const KernelName& kernel, const BlockCounts& blocks, void** arguments) {
  static Loaded loaded;
  C10_CUDA_CHECK(
      cudaLaunchKernel(reinterpret_cast<const void*>(loaded.kernel(kernel, capability())),
                       dim3(static_cast<unsigned>(blocks.x), static_cast<unsigned>(blocks.y)),
                       dim3(kBlockThreads), arguments, 0, c10::cuda::getCurrentCUDAStream()));
}

void launch_kernel(const KernelName& kernel, std::int64_t threads, void** arguments) {
  const std::int64_t blocks = (threads + kBlockThreads - 1) / kBlockThreads,
                     most = std::int64_t{processors()} * kBlocksOfAProcessor;
  launch_kernel(kernel, BlockCounts{std::min(blocks, most)}, arguments);
}

}  // namespace ddptrain
