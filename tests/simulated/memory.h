// Pages of the simulated devices.
#pragma once

#include <c10/core/Allocator.h>

#include <cstdint>
#include <vector>

#include "accelerator/accelerator.h"

namespace ddptrain::simulated {

constexpr int kMostDevices = 8;

int device_count();
int current_device();
/// Returns the one before.
int exchange_device(int device);

/// While it lives, the storages at these addresses can be read and written, by a stream: the
/// current one of their device by default.
class Access {
 public:
  explicit Access(std::vector<const void*> storages, int stream = -1);
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  std::vector<const void*> storages_;
  int stream_;
};

/// Memory at these addresses, of a device or pinned, stays until let_go() though its tensor ends:
/// a copy is under way.
void hold(const std::vector<const void*>& addresses);
void let_go(const std::vector<const void*>& addresses);
/// Whether a copy is under way from or to a device's memory at this address.
bool is_held(const void* address);

/// A tensor's memory is also used by a stream (record_stream): it may end before that has run.
void also_used_by(const void* address, int stream);

/// The capture in which memory was allocated; 0: in none.
int graph_of(const void* address);
/// With bytes of 255: NaN, or -1.
void fill_memory_of(int graph);

DeviceMemory memory_of(int device);
void reset_peak(int device);
/// As CUDA's allocator does, freed memory stays reserved until here.
void return_unused();

c10::Allocator& allocator();
c10::Allocator& pinned_allocator();
bool is_pinned(const void* data);

}  // namespace ddptrain::simulated
