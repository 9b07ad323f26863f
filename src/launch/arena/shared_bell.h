// A word in shared memory at which processes sleep.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>

namespace ddptrain {

/// Rung whenever something changed that others wait for. std::atomic's own wait works between the
/// threads of one process alone. All zero bytes are a bell.
class SharedBell {
 public:
  std::uint32_t count() const { return count_.load(); }

  void ring() {
    ++count_;
    if (sleepers_.load() > 0) futex(FUTEX_WAKE, INT_MAX, nullptr);
  }

  /// Until the bell has been rung since it had that count, or a signal came; false: the time has
  /// passed first.
  bool sleep(std::uint32_t count, std::chrono::milliseconds time) {
    const timespec relative{time.count() / 1000, time.count() % 1000 * 1'000'000};
    ++sleepers_;
    const bool passed = futex(FUTEX_WAIT, count, &relative) != 0 && errno == ETIMEDOUT;
    --sleepers_;
    return !passed;
  }

 private:
  long futex(int operation, std::uint32_t value, const timespec* time) {
    return ::syscall(SYS_futex, &count_, operation, value, time, nullptr, 0);
  }

  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace ddptrain
