// Streams of the simulated devices. What is put into one runs as late as the rules permit: when the
// stream, or one that waits for its event, comes to an operator, or when the host waits.
#pragma once

#include <c10/core/Stream.h>

#include <cstddef>
#include <cstdint>

namespace ddptrain::simulated {

/// The calling thread's, of a device; its number is Stream::id(), 0 for the default one.
c10::Stream current_stream(int device);
/// Returns the one before.
c10::Stream exchange_stream(c10::Stream stream);
/// One other than the default stream; after 31 they repeat.
c10::Stream next_stream(int device);

/// Bytes between pinned memory and a device.
struct LateCopy {
  void* to;
  const void* from;
  std::size_t bytes;
};

/// Both put a copy into the current stream of a device. Until it has run, the destination holds
/// bytes of 255: NaN, or -1; copies of what is there that the stream waits for run before that. A
/// copy to the host is seen there only when an event or a stream behind it was synchronized, or a
/// query of it was answered with true; copies to a device that run after it see it at once.
void copy_to_device_later(const LateCopy& copy, int device);
void copy_to_host_later(const LateCopy& copy, int device);

/// An operator of the current stream of a device comes: all that is in the stream runs.
void run_waiting(int device);
/// All that is in the streams of a device runs.
void run_all_waiting(int device);
/// The host sees what a stream has done so far.
void finish(c10::Stream stream);
void finish_device(int device);
bool is_idle(c10::Stream stream);

// Events, as c10::impl::DeviceGuardImplInterface has them.
void record_event(void** event, c10::Stream stream);
void wait_for_event(void* event, c10::Stream stream);
/// False for the first times, whatever has run.
bool has_passed(void* event);
/// Was the host to wait for it?
bool finish_event(void* event);
/// Of the host's clock, when the stream came to each.
double milliseconds_between(void* event, void* later);
void destroy_event(void* event);

}  // namespace ddptrain::simulated
