// Signals of a process that watches over others.
#pragma once

#include <signal.h>

namespace ddptrain {

/// While it lives, what asks a process to stop, to pause or to save, and the end of a child, wait
/// until they are taken one by one instead of interrupting.
class TakenSignals {
 public:
  TakenSignals();
  ~TakenSignals();
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;
  /// That children start with.
  sigset_t of_children() const;
  /// The next one, 0 where none comes in time.
  int next(double seconds) const;

 private:
  sigset_t taken_{};
  sigset_t before_{};
};

}  // namespace ddptrain
