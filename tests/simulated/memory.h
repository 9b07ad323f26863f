// Pages of the simulated devices.
#pragma once

#include <c10/core/Allocator.h>

#include <cstdint>
#include <vector>

#include "accelerator/accelerator.h"

namespace ddptrain::simulated {

int device_count();
int current_device();
/// Returns the one before.
int exchange_device(int device);

/// While it lives, the storages at these addresses can be read and written.
class Access {
 public:
  explicit Access(std::vector<const void*> storages);
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  std::vector<const void*> storages_;
};

DeviceMemory memory_of(int device);
void reset_peak(int device);
/// As CUDA's allocator does, freed memory stays reserved until here.
void return_unused();

c10::Allocator& allocator();
c10::Allocator& pinned_allocator();
bool is_pinned(const void* data);

}  // namespace ddptrain::simulated
