#include "launch/signal_relay.h"

#include <ctime>

namespace ddptrain {

SignalRelay::SignalRelay(int suspending, Usr1 usr1) : suspending_(suspending), usr1_(usr1) {
  ::sigemptyset(&taken_);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGUSR1, SIGTSTP, SIGCONT, SIGPIPE})
    ::sigaddset(&taken_, signal);
  if (!is_ignored(SIGHUP)) ::sigaddset(&taken_, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &taken_, &before_);
}

SignalRelay::~SignalRelay() {
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  const timespec at_once{};
  ::sigtimedwait(&pipe, nullptr, &at_once);  // a headline that found no reader
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

sigset_t SignalRelay::of_children() const { return without_held(before_); }

int SignalRelay::wait_for_signal(double seconds) const {
  const auto whole = static_cast<std::time_t>(seconds);
  const timespec patience{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  const int signal = ::sigtimedwait(&taken_, nullptr, &patience);
  return signal > 0 ? signal : 0;
}

Asked SignalRelay::first_stop(int signal) {
  if (stop_signal_ != 0) return {};
  stop_signal_ = signal;
  return {Asked::stop, signal};
}

Asked SignalRelay::next(double seconds, const Send& send) {
  const int signal = wait_for_signal(seconds);
  switch (signal) {
    case SIGUSR1:
      return usr1_ == Usr1::stops ? first_stop(signal) : Asked{Asked::save, signal};
    case SIGTSTP:
      send(suspending_);
      ::raise(SIGSTOP);
      [[fallthrough]];
    case SIGCONT:
      send(SIGCONT);
      return {Asked::resumed, signal};
    case SIGQUIT:
      return {Asked::end_now, signal};
    case SIGINT:
      if (stop_signal_ != 0) return {Asked::end_now, signal};
      [[fallthrough]];
    case SIGTERM:
    case SIGHUP:
      return first_stop(signal);
    default:
      return {};
  }
}

}  // namespace ddptrain
