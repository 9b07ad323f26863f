// Bytes that operators read and write.
#pragma once

#include <atomic>
#include <cstdint>

namespace ddptrain {

struct TrafficOfCall;

/// Counts the sizes of the tensors that ATen operators take and return while it lives, in all
/// threads; one at a time in a process. An operator that calls others counts as much as they do, or
/// as much as itself where that is more; views and new tensors count nothing. Memory has to move at
/// least about that much, unless caches hold it.
class TrafficCounter {
 public:
  TrafficCounter();
  ~TrafficCounter();
  TrafficCounter(const TrafficCounter&) = delete;
  TrafficCounter& operator=(const TrafficCounter&) = delete;
  std::int64_t bytes() const { return bytes_; }

 private:
  friend struct TrafficOfCall;
  std::atomic<std::int64_t> bytes_ = 0;
  std::uint64_t handle_;
};

}  // namespace ddptrain
