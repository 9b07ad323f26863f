// What the simulated device counts.
#pragma once

#include "simulated/simulated.h"

namespace ddptrain::simulated {

/// While one lives, this thread works for an operator that was counted.
class Inside {
 public:
  Inside() { ++depth(); }
  ~Inside() { --depth(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static bool operators() { return depth() > 0; }

 private:
  static int& depth();
};

/// Adds one to a field; nothing inside an operator.
void count(std::int64_t Counts::*what);
/// Memory was freed that a stream may still use.
void count_misuse();
/// The host waits for the device: `why`, and where in the program.
void count_wait(const std::string& why);

}  // namespace ddptrain::simulated
