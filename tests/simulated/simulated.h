// A device without hardware, of which a test can ask everything: libddptrain_simulated.so has
// LibTorch's key HPU. Its memory is the host's, which cannot be accessed outside of an operator or
// a copy; operators are the CPU's, and run at once. Copies between it and pinned memory run late.
// What a CUDA kernel refuses and the CPU's does not is refused here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ddptrain::simulated {

/// Calls since reset(), over all threads. Views and allocations are free.
struct Counts {
  std::int64_t operators = 0;  // about one kernel each; copies within the device are some, and a
                               // graph's replay is one
  std::int64_t replays = 0;    // of graphs
  std::int64_t items = 0;      // single numbers read by the host (item)
  std::int64_t to_host = 0;    // tensors copied to the host
  std::int64_t from_pageable = 0, from_pinned = 0;  // tensors copied to the device
  /// Memory freed that a stream used which neither allocated it nor was recorded for it.
  std::int64_t freed_in_use = 0;
  /// Where the host waited for the device, and how often: "item in ddptrain::Replica::totals".
  std::map<std::string, std::int64_t> waits;
  std::int64_t waited() const;
};

Counts counts();
void reset();

/// Devices of this process; 2 at first. More than at the first backward pass have no thread there.
void set_devices(int count);
/// Bytes of each device, 0 for as many as the host has: beyond is an OutOfMemoryError.
void set_memory(std::int64_t bytes);
/// Whether events pass. Where they do not, a device waits for what never comes.
void let_events_pass(bool pass);

}  // namespace ddptrain::simulated
