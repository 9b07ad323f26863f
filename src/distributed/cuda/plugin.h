// What libddptrain_cuda.so offers to the program, which itself needs no GPU library. Plain C types,
// so that a plug-in of another build is recognised by its version and refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ddptrain {

/// Bytes on one device.
struct CudaMemory {
  std::int64_t allocated = 0;  // in live tensors
  std::int64_t peak = 0;       // most of that so far
  std::int64_t reserved = 0;   // held by the allocator
  std::int64_t total = 0;      // of the device
};

struct CudaPlugin {
  static constexpr int current = 1;
  static constexpr const char* symbol = "ddptrain_cuda_plugin";

  int version;
  /// Devices that this process may use; 0 where there is no driver.
  int (*device_count)();
  /// False where the device does not exist or was not used yet.
  bool (*memory)(int device, CudaMemory* memory);
  /// Takes a c10d::Store*, returns a c10d::Backend* with one reference for the caller; null with a
  /// message in `error` when it fails.
  void* (*nccl)(void* store, const char* name, int rank, int size, int device,
                std::int64_t timeout_ms, char* error, std::size_t error_size);
};

using CudaPluginEntry = const CudaPlugin*();

}  // namespace ddptrain
