// `run --trace memory`: bytes of tensors over time, by phase.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>

#include "callbacks/callback.h"

namespace ddptrain {

struct MemoryTraceOptions {
  c10::Device device = c10::kCPU;  // whose memory
  std::int64_t before = 0;         // bytes that the run holds there as it begins
  std::int64_t rank = 0;
  std::string path;      // of both files, without their endings; its folder is there
  bool reports = false;  // logs where they are
};

/// An observer that writes a row of PATH.csv when a phase ends (seconds since it was made,
/// optimizer steps made, phase, bytes then, most bytes in the phase), and the same as a counter in
/// PATH.json, a Chrome trace. On the CPU these are the bytes that tensors of the calling thread and
/// of replicas' threads allocate and free; elsewhere those that the device's allocator has given
/// out. Both files appear whole, when it is destroyed or the run ends.
std::unique_ptr<Callback> make_memory_trace(const MemoryTraceOptions& options);

}  // namespace ddptrain
