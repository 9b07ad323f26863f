// Time: how long something took, and what the time is.
#pragma once

#include <string>

namespace ddptrain {

/// Seconds on a clock that only runs forward.
double seconds_now();

/// "2026-03-01T12:34:56Z"
std::string utc_now();

/// Seconds since it was made or restarted.
class Stopwatch {
 public:
  Stopwatch() : start_(seconds_now()) {}
  double seconds() const { return seconds_now() - start_; }
  void restart() { start_ = seconds_now(); }

 private:
  double start_;
};

}  // namespace ddptrain
