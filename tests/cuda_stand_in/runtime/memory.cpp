// Memory of devices and pinned memory. A page that was freed is unmapped, so that its use is a
// segmentation fault.
#include <sys/mman.h>

#include <cstring>

#include "cuda_stand_in/core/report.h"
#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

void* map(std::size_t bytes) {
  void* made = ::mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? nullptr : made;
}

int allocate(void** to, std::size_t bytes, int device) {
  auto& gpus = Gpus::get();
  if (device != kHost && gpus.allocations().bytes_of(device) + bytes > gpus.memory())
    return cudaErrorMemoryAllocation;
  *to = map(bytes);
  if (*to == nullptr) return cudaErrorMemoryAllocation;
  gpus.use(device == kHost ? Gpus::current() : device);
  gpus.allocations().add({reinterpret_cast<std::uintptr_t>(*to), bytes, device});
  return 0;
}

void release(const Allocation& memory) {
  const auto [begin, bytes, device] = memory;
  Gpus::get().history().forget(begin, bytes);
  Gpus::get().allocations().remove(begin);
  ::munmap(reinterpret_cast<void*>(begin), whole_pages(bytes));
}

const Allocation& allocation_at(const void* memory, const char* call) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const auto* found = Gpus::get().allocations().find(begin);
  if (found == nullptr || found->begin != begin)
    fault(std::string(call) + " of " + hexadecimal(begin) + ", where no allocation begins");
  return *found;
}

// CUDA waits for the device.
int free_on_device(void* memory) {
  if (memory == nullptr) return 0;
  if (const auto error = Captures::get().refuse_unsafe("cudaFree")) return error;
  const auto& found = allocation_at(memory, "cudaFree");
  count(Count::device_syncs);
  Gpus::get().host_waits(Gpus::get().clock_of_device(found.device));
  release(found);
  return 0;
}

int free_on_host(void* memory) {
  if (memory == nullptr) return 0;
  if (const auto error = Captures::get().refuse_unsafe("cudaFreeHost")) return error;
  const auto& found = allocation_at(memory, "cudaFreeHost");
  auto& gpus = Gpus::get();
  if (const auto use = gpus.history().pending(found.begin, found.bytes, gpus.host()))
    fault("cudaFreeHost of " + std::to_string(found.bytes) + " bytes at " +
          hexadecimal(found.begin) + ", which " + *use);
  release(found);
  return 0;
}

}  // namespace
}  // namespace ddptrain::stand_in

namespace stand_in = ddptrain::stand_in;

extern "C" {

cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  stand_in::watch_blocks();
  const stand_in::LockedGpus gpus;
  stand_in::log_line("cudaMalloc " + std::to_string(bytes));
  if (const auto error = stand_in::Captures::get().refuse_unsafe("cudaMalloc"))
    return stand_in::result(error);
  stand_in::count(stand_in::Count::device_allocations);
  return stand_in::result(stand_in::allocate(to, bytes, gpus->current()));
}
cudaError_t cudaFree(void* memory) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::free_on_device(memory));
}
cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned) {
  const stand_in::LockedGpus gpus;
  if (const auto error = stand_in::Captures::get().refuse_unsafe("cudaHostAlloc"))
    return stand_in::result(error);
  stand_in::count(stand_in::Count::host_allocations);
  return stand_in::result(stand_in::allocate(to, bytes, stand_in::kHost));
}
cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return cudaHostAlloc(to, bytes, 0); }
cudaError_t cudaFreeHost(void* memory) {
  const stand_in::LockedGpus gpus;
  return stand_in::result(stand_in::free_on_host(memory));
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const stand_in::LockedGpus gpus;
  *total = gpus->memory();
  *free = *total - gpus->allocations().bytes_of(gpus->current());
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const stand_in::LockedGpus gpus;
  *attributes = {};
  attributes->type = cudaMemoryTypeUnregistered;
  const auto* found = gpus->allocations().find(reinterpret_cast<std::uintptr_t>(address));
  if (found == nullptr) return cudaSuccess;
  const bool is_pinned = found->device == stand_in::kHost;
  attributes->type = is_pinned ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  attributes->device = is_pinned ? gpus->current() : found->device;
  attributes->devicePointer = const_cast<void*>(address);
  attributes->hostPointer = is_pinned ? const_cast<void*>(address) : nullptr;
  return cudaSuccess;
}
}
