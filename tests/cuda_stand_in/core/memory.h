// Memory of devices and pinned memory of the host: what is allocated, and who used it last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cuda_stand_in/core/exported.h"
#include "cuda_stand_in/core/vector_clock.h"

namespace ddptrain::stand_in {

inline constexpr int kHost = -1;  // in place of a device: pinned memory

/// Bytes that an operation reads or writes.
struct MemoryAccess {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  bool writes = false;
};
inline MemoryAccess reads(const void* from, std::size_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(from), bytes, false};
}
inline MemoryAccess writes(const void* to, std::size_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(to), bytes, true};
}

/// One operation at its place in the order of its stream.
struct PlacedOperation {
  const char* name = "";  // interned
  int stream = 0;
  std::uint64_t time = 0;
};

/// Who wrote and read each byte last.
class AccessHistory {
 public:
  /// A sentence about the first byte that `operation` must not use yet, as far as `clock` knows.
  std::optional<std::string> note(const MemoryAccess& access, const PlacedOperation& operation,
                                  const VectorClock& clock);
  /// A sentence about the first operation on these bytes whose end `clock` does not know.
  std::optional<std::string> pending(std::uintptr_t begin, std::size_t bytes,
                                     const VectorClock& clock) const;
  void forget(std::uintptr_t begin, std::size_t bytes);

 private:
  struct Span {
    std::uintptr_t end = 0;
    PlacedOperation written;               // stream < 0: by none
    std::vector<PlacedOperation> readers;  // since then
  };
  using Spans = std::map<std::uintptr_t, Span>;
  Spans::iterator split(std::uintptr_t at);
  void cover(std::uintptr_t begin, std::uintptr_t end);

  Spans spans_;
};

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  int device = kHost;
};

/// What is allocated now. All calls are under the lock of Gpus.
class Allocations {
 public:
  void add(const Allocation& allocation) { all_[allocation.begin] = allocation; }
  void remove(std::uintptr_t begin) { all_.erase(begin); }
  /// That holds this address; null: none.
  const Allocation* find(std::uintptr_t address) const;
  /// Whether all bytes are allocated, in one piece or in pieces side by side on one device.
  bool holds(std::uintptr_t begin, std::size_t bytes) const;
  std::size_t bytes_of(int device) const;

 private:
  std::map<std::uintptr_t, Allocation> all_;
};

std::string hexadecimal(std::uintptr_t address);

/// "the default stream of device 0", "stream 3 of device 0".
STAND_IN_API std::string stream_name(int stream);

/// The same text for the life of the process.
const char* interned(const std::string& text);

}  // namespace ddptrain::stand_in
