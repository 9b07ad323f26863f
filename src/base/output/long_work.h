// Work on data that may take long, shown on a terminal while it lasts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace ddptrain {

/// Where stderr is a terminal, the status line shows what is done and how far it is: "reading texts
/// 40 %  left 3 s", or "listing images  1200" where their number is unknown. Work of a
/// moment is not shown. Each of its pieces is progress().
class LongWork {
 public:
  /// `what` is a verb and its object; `all` counts the pieces, 0: unknown.
  explicit LongWork(std::string what, std::int64_t all = 0);
  ~LongWork();  // erases the line
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  /// Pieces that are done, on any thread.
  void did(std::int64_t pieces = 1);

 private:
  void show(std::int64_t done, double seconds) const;

  std::string what_;
  std::int64_t all_;
  bool shows_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::atomic<std::int64_t> done_ = 0;
  std::mutex drawing_;
  double drawn_at_ = 0;  // seconds since it began; 0: not yet
};

}  // namespace ddptrain
