// Memory that ranks share with the process that forks them: whatever becomes of a rank, what it
// wrote can be read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ddptrain {

/// Zeroed bytes that this process shares with those that it forks afterwards.
class SharedMemory {
 public:
  /// An Error (Exit::memory) where the system has none for `purpose`.
  SharedMemory(std::size_t bytes, const char* purpose);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
};

/// A number from 1 that a rank reports.
class ReportedNumber {
 public:
  ReportedNumber();
  void set(std::int64_t number) { *number_ = number; }
  /// Nothing until a rank has set it.
  std::optional<std::int64_t> get() const;

 private:
  SharedMemory memory_;
  std::atomic<std::int64_t>* number_;
};

}  // namespace ddptrain
