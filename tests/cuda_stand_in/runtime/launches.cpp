#include "cuda_stand_in/runtime/launches.h"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>
#include <unordered_map>

#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

/// By their addresses, or handles: what a name of the linker is, of all libraries.
std::unordered_map<const void*, const char*>& registered() {
  static auto* all = new std::unordered_map<const void*, const char*>;
  return *all;
}

std::string readable(const char* name) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string text = demangled != nullptr ? demangled : name;
  std::free(demangled);
  return text;
}

const char* linker_name(const void* function) {
  const auto found = registered().find(function);
  return found == registered().end() ? "an unknown kernel" : found->second;
}

// CUDA loads a kernel when it is first used (lazy loading, the default since CUDA 11.7).
void note_load(const void* function, const GpuStream& stream) {
  static std::set<std::pair<const void*, int>> loaded;
  if (!loaded.insert({function, stream.device}).second || stream.capture == nullptr) return;
  count(Count::loads_in_captures);
  add_line("loads", readable(linker_name(function)));
}

std::string grid_text(const unsigned (&of)[3]) {
  return std::to_string(of[0]) + " x " + std::to_string(of[1]) + " x " + std::to_string(of[2]);
}

void check_grid(const std::string& name, const LaunchGrid& grid, const GpuStream& stream) {
  const auto& [blocks, threads, shared_bytes] = grid;
  const auto what = "kernel " + name + " on " + stream_name(stream.id) + " is launched with ";
  if (blocks[0] == 0 || blocks[1] == 0 || blocks[2] == 0 || threads[0] == 0 || threads[1] == 0 ||
      threads[2] == 0)
    fault(what + "an empty grid: " + grid_text(blocks) + " blocks of " + grid_text(threads) +
          " threads");
  constexpr unsigned kMostBlocks = 65535, kMostThreads = 1024;
  constexpr std::size_t kMostShared = 232448;
  if (blocks[0] > 2147483647U || blocks[1] > kMostBlocks || blocks[2] > kMostBlocks)
    fault(what + "too large a grid: " + grid_text(blocks) + " blocks");
  if (std::uint64_t{threads[0]} * threads[1] * threads[2] > kMostThreads || threads[2] > 64)
    fault(what + "too large blocks: " + grid_text(threads) + " threads");
  if (shared_bytes > kMostShared)
    fault(what + std::to_string(shared_bytes) + " bytes of shared memory");
}

cudaError_t launch(const void* function, dim3 blocks, dim3 threads, void** arguments,
                   std::size_t shared_bytes, const void* handle) {
  const LockedGpus gpus;
  auto& stream = gpus->stream(handle);
  if (is_lost(stream, 1)) return result(cudaErrorLaunchFailure);
  note_load(function, stream);
  const std::string name = linker_name(function);
  auto accesses = accesses_of(name, blocks.x, arguments);
  return result(launch_kernel(
      accesses.empty() ? readable(name.c_str()) : name,
      {{blocks.x, blocks.y, blocks.z}, {threads.x, threads.y, threads.z}, shared_bytes},
      std::move(accesses), stream));
}

/// Text or machine code of a library, up to its end.
std::string_view code_of(const void* data) {
  const auto* bytes = static_cast<const char*>(data);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) != 0) return bytes;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  const auto sections = header.e_shoff + std::size_t{header.e_shentsize} * header.e_shnum;
  const auto segments = header.e_phoff + std::size_t{header.e_phentsize} * header.e_phnum;
  return {bytes, std::max(sections, segments)};
}

struct LoadedCode {
  std::string code;
  std::unordered_map<std::string, std::string*> kernels;
};

int load(cudaLibrary_t* to, const void* data) {
  const LockedGpus gpus;
  if (const auto error = Captures::get().refuse_unsafe("cudaLibraryLoadData")) return error;
  *to = reinterpret_cast<cudaLibrary_t>(new LoadedCode{std::string(code_of(data)), {}});
  return 0;
}

int kernel_of(cudaKernel_t* to, cudaLibrary_t library, const char* name) {
  const LockedGpus gpus;
  auto& from = *reinterpret_cast<LoadedCode*>(library);
  if (from.code.find(name) == std::string::npos) return cudaErrorSymbolNotFound;
  auto& kernel = from.kernels[name];
  if (kernel == nullptr) kernel = new std::string(name);
  registered()[kernel] = kernel->c_str();
  *to = reinterpret_cast<cudaKernel_t>(kernel);
  return 0;
}

struct CallConfiguration {
  dim3 blocks, threads;
  std::size_t shared_bytes;
  void* stream;
};
thread_local CallConfiguration configuration;

}  // namespace

bool is_lost(const GpuStream& stream, std::size_t kernels) {
  static const char* text = std::getenv("STAND_IN_FAIL");
  static int device = -1;
  static std::size_t left = 0;
  static const bool is_wanted = text != nullptr && std::sscanf(text, "%d:%zu", &device, &left) == 2;
  if (!is_wanted || stream.device != device) return false;
  left -= std::min(left, kernels);
  return left == 0;
}

int launch_kernel(const std::string& name, const LaunchGrid& grid,
                  std::vector<MemoryAccess> accesses, GpuStream& stream) {
  check_grid(name, grid, stream);
  if (stream.capture == nullptr) count(Count::launches);
  if (stream.is_default) count(Count::step_launches);
  GpuOperation operation{"kernel " + name, std::move(accesses), {}, {}, true, 0};
  return Gpus::get().enqueue(stream, std::move(operation));
}

void library_kernel(const std::string& name, const void* stream,
                    std::vector<MemoryAccess> accesses) {
  const LockedGpus gpus;
  launch_kernel(name, {}, std::move(accesses), gpus->stream(stream));
}

}  // namespace ddptrain::stand_in

namespace stand_in = ddptrain::stand_in;

extern "C" {

STAND_IN_API void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
STAND_IN_API void __cudaRegisterFatBinaryEnd(void**) {}
STAND_IN_API void __cudaUnregisterFatBinary(void**) {}
STAND_IN_API char __cudaInitModule(void**) { return 1; }
STAND_IN_API void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {
}
STAND_IN_API void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int,
                                         void*, void*, void*, void*, int*) {
  const stand_in::LockedGpus gpus;
  stand_in::registered()[function] = name;
}
STAND_IN_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
STAND_IN_API unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, std::size_t shared,
                                                  void* stream) {
  stand_in::configuration = {blocks, threads, shared, stream};
  return 0;
}
STAND_IN_API cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads,
                                                    std::size_t* shared, void* stream) {
  const auto& c = stand_in::configuration;
  *blocks = c.blocks;
  *threads = c.threads;
  *shared = c.shared_bytes;
  *static_cast<void**>(stream) = c.stream;
  return cudaSuccess;
}
STAND_IN_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads,
                                            void** arguments, std::size_t shared,
                                            cudaStream_t stream) {
  return stand_in::launch(kernel, blocks, threads, arguments, shared, stream);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return stand_in::launch(function, blocks, threads, arguments, shared, stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 blocks, dim3 threads,
                                        void** arguments, std::size_t shared, cudaStream_t stream) {
  return stand_in::launch(function, blocks, threads, arguments, shared, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return stand_in::launch(function, config->gridDim, config->blockDim, arguments,
                          config->dynamicSmemBytes, config->stream);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->binaryVersion = attributes->ptxVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                          std::size_t) {
  *blocks = 2048 / std::max(threads, 1);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                   int threads, std::size_t,
                                                                   unsigned) {
  *blocks = 2048 / std::max(threads, 1);
  return cudaSuccess;
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* to, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return stand_in::result(stand_in::load(to, code));
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* to, cudaLibrary_t library, const char* name) {
  return stand_in::result(stand_in::kernel_of(to, library, name));
}
}
