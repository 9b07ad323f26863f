// Memory that ranks share with the process that forks them: whatever becomes of a rank, what it
// wrote can be read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launch/shared_text.h"

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

/// A text that a rank reports.
class ReportedText {
 public:
  ReportedText();
  void set(std::string_view text) { text_->set(text); }
  /// Empty until a rank has set it.
  std::string get() const { return text_->get(); }

 private:
  static constexpr std::size_t kMost = 4096;  // bytes, as of a path
  SharedMemory memory_;
  SharedText<kMost>* text_;
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
