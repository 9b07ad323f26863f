// Signals of a process that watches over others.
#pragma once

#include <signal.h>

#include <functional>

#include "launch/signals.h"

namespace ddptrain {

/// What a signal asks of a process that watches over children.
struct Asked {
  enum What {
    nothing,
    save,     // SIGUSR1, unless that stops
    resumed,  // this process and its children were suspended, and continue
    stop,     // the first SIGTERM, SIGINT or SIGHUP, or SIGUSR1 where it stops
    end_now   // SIGQUIT, or SIGINT after a stop
  };
  What what = nothing;
  int signal = 0;
};

/// While it lives, signals to stop, to suspend or to save, and the end of a child, stay pending
/// until next() accepts them one by one.
class SignalRelay {
 public:
  using Send = std::function<void(int signal)>;

  /// `suspending` is what suspends children together with this process: SIGSTOP where they are
  /// ranks; SIGTSTP where they are runs, which suspend their ranks.
  explicit SignalRelay(int suspending, Usr1 usr1 = Usr1::saves);
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  /// What children start with.
  sigset_t of_children() const;
  /// Waits for a signal, at most so long. Suspends and resumes this process and its children, which
  /// `send` signals; what else the children are sent is the caller's.
  Asked next(double seconds, const Send& send);
  /// The signal that asked to stop; 0: none has.
  int stop_signal() const { return stop_signal_; }

 private:
  int wait_for_signal(double seconds) const;
  Asked first_stop(int signal);

  int suspending_;
  Usr1 usr1_;
  int stop_signal_ = 0;
  sigset_t taken_{};
  sigset_t before_{};
};

}  // namespace ddptrain
