#include "sources/synthetic/draw_all.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/blocked_signals.h"
#include "base/output/long_work.h"

namespace ddptrain {
namespace {

class Drawing {
 public:
  Drawing(std::size_t count, const std::function<void(std::size_t)>& draw)
      : count_(count), draw_(draw), work_("drawing images", static_cast<std::int64_t>(count)) {}

  void run() {
    const auto cores = std::max<std::size_t>(1, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    {
      const BlockedSignals blocked;
      for (std::size_t i = 0; i < std::min(cores, count_); ++i)
        threads.emplace_back([this] { draw_next_ones(); });
    }
    for (auto& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void draw_next_ones() {
    while (!failed_) {
      const auto at = next_++;
      if (at >= count_) return;
      try {
        draw_(at);
        work_.did();
      } catch (...) {
        note_error(at);
      }
    }
  }

  void note_error(std::size_t at) {
    const std::lock_guard lock(error_lock_);
    if (!error_ || at < error_at_) {
      error_ = std::current_exception();
      error_at_ = at;
    }
    failed_ = true;
  }

  const std::size_t count_;
  const std::function<void(std::size_t)>& draw_;
  LongWork work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex error_lock_;
  std::exception_ptr error_;
  std::size_t error_at_ = 0;
};

}  // namespace

void draw_all(std::size_t count, const std::function<void(std::size_t)>& draw) {
  Drawing(count, draw).run();
}

}  // namespace ddptrain
