// How far work of a known length is: the status line of verbs that do not train.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace ddptrain {

/// On a terminal a line such as "predicted 40/400  12.5 samples/s  left 29 s", as much of it as
/// fits; elsewhere nothing. Its end erases it.
class CountLine {
 public:
  /// `what` stands before the numbers, `unit` is what they count.
  CountLine(std::string what, std::string unit);
  ~CountLine() { clear(); }
  CountLine(const CountLine&) = delete;
  CountLine& operator=(const CountLine&) = delete;

  /// Rewrites it, ten times a second at most.
  void show(std::int64_t done, std::int64_t all);
  void clear();
  double seconds() const;  // since it was made

 private:
  std::string what_, unit_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double shown_at_ = -1;
};

}  // namespace ddptrain
