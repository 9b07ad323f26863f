// Signals of a process that watches over others.
#pragma once

#include <signal.h>

#include <functional>

namespace ddptrain {

/// What a signal asks of a process that watches over children.
struct Asked {
  enum What {
    nothing,
    save,     // SIGUSR1
    resumed,  // this process and its children were suspended, and continue
    stop,     // the first SIGTERM, SIGINT or SIGHUP
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
  explicit SignalRelay(int suspending);
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

  int suspending_;
  int stop_signal_ = 0;
  sigset_t taken_{};
  sigset_t before_{};
};

}  // namespace ddptrain
