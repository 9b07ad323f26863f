// The blocks that LibTorch's caching allocator gives out. It keeps what it frees, so that no call
// of CUDA shows that memory changes hands; its own trace does.
#include <c10/cuda/CUDACachingAllocator.h>
#include <dlfcn.h>

#include "cuda_stand_in/core/report.h"
#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

using c10::CachingDeviceAllocator::TraceEntry;

void note_block(const TraceEntry& entry) {
  if (entry.action_ != TraceEntry::ALLOC) return;
  const LockedGpus gpus;
  auto& stream =
      entry.stream_ == nullptr ? gpus->default_stream(entry.device_) : gpus->stream(entry.stream_);
  gpus->give_block(stream, entry.addr_, entry.size_);
}

using TorchAllocator = c10::cuda::CUDACachingAllocator::CUDAAllocator;

// A program that is linked to LibTorch may have a copy of the variable, which comes first.
TorchAllocator* allocator_of_torch() {
  constexpr const char* kName = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
  void* symbol = ::dlsym(RTLD_DEFAULT, kName);
  void* library = ::dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (symbol == nullptr && library == nullptr) return nullptr;
  if (symbol == nullptr) symbol = ::dlsym(library, kName);
  if (symbol == nullptr) fault("LibTorch's allocator is not where the stand-in looks for it");
  return static_cast<std::atomic<TorchAllocator*>*>(symbol)->load();
}

}  // namespace

void watch_blocks() {
  static bool is_watched = false;
  if (is_watched) return;
  auto* allocator = allocator_of_torch();
  if (allocator == nullptr || !allocator->initialized()) return;
  is_watched = true;
  allocator->attachAllocatorTraceTracker(note_block);
}

}  // namespace ddptrain::stand_in
