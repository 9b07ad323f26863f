// What the stand-in found and counted, in files of the folder that STAND_IN_REPORT names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda_stand_in/core/exported.h"

namespace ddptrain::stand_in {

/// What a program asked of the device; a line of a process's file `counts.PID` has all of them.
enum class Count {
  launches,            // of kernels, from the host
  step_launches,       // those of them on a device's default stream, where steps compute
  graph_launches,      // of whole graphs
  graph_kernels,       // kernels of those graphs
  to_device,           // copies; batches are copied ahead, now two in a step and now none
  step_copies,         // those of them on a device's default stream
  to_host,             //
  on_device,           // from device memory to device memory, of one device or two
  memsets,             //
  records,             // of events
  stream_waits,        // a stream waits for an event
  event_waits,         // the host waits for an event,
  stream_syncs,        // for a stream,
  device_syncs,        // for a device
  collectives,         // of NCCL
  captures,            // begun
  broken_captures,     //
  loads_in_captures,   // kernels whose first use is within a capture
  device_allocations,  //
  host_allocations,    // of pinned memory
  blocks,              // that LibTorch's allocator gave out
  kinds
};
inline constexpr std::array<const char*, static_cast<std::size_t>(Count::kinds)> kCountNames{
    "launches",
    "step_launches",
    "graph_launches",
    "graph_kernels",
    "to_device",
    "step_copies",
    "to_host",
    "on_device",
    "memsets",
    "records",
    "stream_waits",
    "event_waits",
    "stream_syncs",
    "device_syncs",
    "collectives",
    "captures",
    "broken_captures",
    "loads_in_captures",
    "device_allocations",
    "host_allocations",
    "blocks"};

STAND_IN_API void count(Count what, std::int64_t times = 1);

/// A program broke a rule: one sentence on stderr and in `faults`, and the process is aborted.
[[noreturn]] STAND_IN_API void fault(const std::string& sentence);

/// The same, but the program continues with the error that CUDA has for it: what breaks a capture.
STAND_IN_API void remark(const std::string& sentence);

/// A line of `log.PID`, if STAND_IN_LOG is set.
STAND_IN_API void log_line(const std::string& line);

/// Whether log_line writes anything.
STAND_IN_API bool logs();

/// A line of a file of this process, written at once: "collectives".
STAND_IN_API void add_line(const std::string& file, const std::string& line);

/// So many bytes went to the host, which may be the numbers of a step: all counts so far become a
/// line of `counts.PID`, "bytes 72 launches 5 ...".
STAND_IN_API void mark_step(std::size_t bytes);

}  // namespace ddptrain::stand_in
