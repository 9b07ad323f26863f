// Functions of the driver that LibTorch asks the runtime for: memory that is mapped in parts
// (expandable segments), which is permitted while a stream is captured.
#include <cuda.h>
#include <sys/mman.h>

#include <cstring>
#include <map>

#include "cuda_stand_in/core/report.h"
#include "cuda_stand_in/runtime/runtime.h"

namespace ddptrain::stand_in {
namespace {

constexpr std::size_t kGranularity = 2 << 20;

/// Physical memory, by handles.
struct DriverMemory {
  std::size_t bytes = 0;
  int device = 0;
};
std::map<CUmemGenericAllocationHandle, DriverMemory>& handles() {
  static std::map<CUmemGenericAllocationHandle, DriverMemory> all;
  return all;
}

std::size_t bytes_created(int device) {
  std::size_t sum = 0;
  for (const auto& [handle, memory] : handles())
    if (memory.device == device) sum += memory.bytes;
  return sum;
}

CUresult reserve(CUdeviceptr* to, std::size_t bytes, std::size_t, CUdeviceptr, unsigned long long) {
  void* made =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  *to = reinterpret_cast<CUdeviceptr>(made);
  return made == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult unreserve(CUdeviceptr at, std::size_t bytes) {
  ::munmap(reinterpret_cast<void*>(at), bytes);
  return CUDA_SUCCESS;
}

CUresult create(CUmemGenericAllocationHandle* to, std::size_t bytes,
                const CUmemAllocationProp* properties, unsigned long long) {
  const LockedGpus gpus;
  const int device = properties->location.id;
  if (bytes_created(device) + gpus->allocations().bytes_of(device) + bytes > gpus->memory())
    return CUDA_ERROR_OUT_OF_MEMORY;
  count(Count::device_allocations);
  log_line("cuMemCreate " + std::to_string(bytes));
  static CUmemGenericAllocationHandle newest = 0;
  handles()[*to = ++newest] = {bytes, device};
  return CUDA_SUCCESS;
}

CUresult release(CUmemGenericAllocationHandle handle) {
  const LockedGpus gpus;
  handles().erase(handle);
  return CUDA_SUCCESS;
}

CUresult map_memory(CUdeviceptr at, std::size_t bytes, std::size_t,
                    CUmemGenericAllocationHandle handle, unsigned long long) {
  watch_blocks();
  const LockedGpus gpus;
  ::mprotect(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE);
  // What is mapped counts among the allocations; its handle, no longer.
  gpus->allocations().add({at, bytes, handles().at(handle).device});
  handles().at(handle).bytes = 0;
  return CUDA_SUCCESS;
}

CUresult unmap(CUdeviceptr at, std::size_t bytes) {
  const LockedGpus gpus;
  if (const auto use = gpus->history().pending(at, bytes, gpus->host()))
    fault("cuMemUnmap of " + std::to_string(bytes) + " bytes at " + hexadecimal(at) + ", which " +
          *use);
  gpus->history().forget(at, bytes);
  for (auto part = at; part < at + bytes;) {
    const auto* found = gpus->allocations().find(part);
    if (found == nullptr) fault("cuMemUnmap of " + hexadecimal(part) + ", where nothing is mapped");
    part = found->begin + found->bytes;
    gpus->allocations().remove(found->begin);
  }
  // Fresh pages, the next time.
  ::mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  return CUDA_SUCCESS;
}

CUresult set_access(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return CUDA_SUCCESS;
}

CUresult granularity(std::size_t* to, const CUmemAllocationProp*,
                     CUmemAllocationGranularity_flags) {
  *to = kGranularity;
  return CUDA_SUCCESS;
}

CUresult device_of(CUdevice* to, int device) {
  *to = device;
  return CUDA_SUCCESS;
}

CUresult attribute_of(int* value, CUdevice_attribute what, CUdevice) {
  *value = what == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult sentence(CUresult, const char** text) {
  *text = "an error of the stand-in for CUDA's driver";
  return CUDA_SUCCESS;
}

// Functions that LibTorch requires to be there and that no run of ours calls.
CUresult uncalled() { fault("a function of the driver that the stand-in does not have"); }

}  // namespace

void* driver_function(const std::string& name) {
  static const std::map<std::string, void*> all{
      {"cuMemAddressReserve", reinterpret_cast<void*>(reserve)},
      {"cuMemAddressFree", reinterpret_cast<void*>(unreserve)},
      {"cuMemCreate", reinterpret_cast<void*>(create)},
      {"cuMemRelease", reinterpret_cast<void*>(release)},
      {"cuMemMap", reinterpret_cast<void*>(map_memory)},
      {"cuMemUnmap", reinterpret_cast<void*>(unmap)},
      {"cuMemSetAccess", reinterpret_cast<void*>(set_access)},
      {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(granularity)},
      {"cuDeviceGet", reinterpret_cast<void*>(device_of)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(attribute_of)},
      {"cuGetErrorString", reinterpret_cast<void*>(sentence)},
      {"cuMemExportToShareableHandle", reinterpret_cast<void*>(uncalled)},
      {"cuMemImportFromShareableHandle", reinterpret_cast<void*>(uncalled)},
      {"cuMemRetainAllocationHandle", reinterpret_cast<void*>(uncalled)},
      {"cuMemGetAllocationPropertiesFromHandle", reinterpret_cast<void*>(uncalled)},
      {"cuMemGetAddressRange", reinterpret_cast<void*>(uncalled)},
      {"cuMemsetD32Async", reinterpret_cast<void*>(uncalled)},
      {"cuStreamWriteValue32", reinterpret_cast<void*>(uncalled)}};
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace ddptrain::stand_in

extern "C" cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                                        unsigned, unsigned long long,
                                                        cudaDriverEntryPointQueryResult* status) {
  *function = ddptrain::stand_in::driver_function(symbol);
  if (status != nullptr)
    *status =
        *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
