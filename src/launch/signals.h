// Requests that come to a training process as signals.
#pragma once

#include <csignal>
#include <string>

namespace ddptrain {

/// That a process stops: the first signal that asked, and when (seconds of UTC, to compare
/// machines).
struct StopRequest {
  int signal = 0;  // 0: none
  double seconds = 0;
};

/// While it lives, SIGTERM, SIGINT and SIGHUP ask this process to stop after the step, and SIGUSR1
/// to save and go on: the handlers only take notes. A second SIGINT ends the process at once. A
/// terminal that is gone (`| head`) asks to stop as SIGPIPE would, unless that was ignored before,
/// and so does an stdout without a reader. One at a time in a process.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  StopRequest stop_requested() const;
  /// True once for each request.
  bool save_requested();

 private:
  bool ends_with_terminal_;
};

/// Keeps SIGTERM, SIGINT, SIGHUP and SIGPIPE waiting while it lives, for a Signals or a launcher to
/// take: a process that has made a run folder and ends before those are there leaves it behind. A
/// SIGPIPE that was not handled is dropped: the log knows of it. In the main thread, one at a time.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

/// A mask of signals without those that are held back.
sigset_t without_held(sigset_t mask);

/// Started by `nohup` and the like, to go on without a terminal?
bool is_ignored(int signal);

/// "SIGTERM" for 15.
std::string signal_name(int signal);

}  // namespace ddptrain
