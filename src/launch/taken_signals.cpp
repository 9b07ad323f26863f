#include "launch/taken_signals.h"

#include <ctime>

#include "launch/signals.h"

namespace ddptrain {

TakenSignals::TakenSignals() {
  ::signal(SIGCHLD, SIG_DFL);  // a parent that ignores it would have the kernel reap our children
  ::sigemptyset(&taken_);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGTSTP, SIGCONT, SIGPIPE})
    ::sigaddset(&taken_, signal);
  if (!is_ignored(SIGHUP)) ::sigaddset(&taken_, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &taken_, &before_);
}

TakenSignals::~TakenSignals() {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  const timespec at_once{};
  ::sigtimedwait(&pipe, nullptr, &at_once);  // a headline that nobody read
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

sigset_t TakenSignals::of_children() const { return without_held(before_); }

int TakenSignals::next(double seconds) const {
  const timespec patience{0, static_cast<long>(seconds * 1e9)};
  const int signal = ::sigtimedwait(&taken_, nullptr, &patience);
  return signal > 0 ? signal : 0;
}

}  // namespace ddptrain
