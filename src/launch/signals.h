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

/// What SIGUSR1 asks for: a checkpoint; or, as a scheduler's warning before its time limit, a
/// checkpoint and the end (128 + SIGUSR1).
enum class Usr1 { saves, stops };

/// Sends a signal to a process that is not ours; one that has ended is none. An Error (Exit::data)
/// where that is not allowed.
void send_signal(pid_t process, int signal);

/// While it lives, SIGTERM, SIGINT and SIGHUP ask this process to stop after the step, and SIGUSR1
/// to save and go on, or to stop too: the handlers only take notes. A second SIGINT ends the
/// process at once. A terminal that is gone (`| head`) asks to stop as SIGPIPE would, unless that
/// was ignored before, and so does an stdout without a reader. One at a time in a process.
class Signals {
 public:
  explicit Signals(Usr1 usr1 = Usr1::saves);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  StopRequest stop_requested() const;
  /// True once for each request.
  bool save_requested();

 private:
  bool ends_with_terminal_;
};

/// While it lives, what would ask a Signals to stop ends the process as if it were not handled, and
/// so does what asked before: nothing has begun that could be saved, and the process may wait for
/// others who never come. One at a time in a process.
class EndsAtOnce {
 public:
  EndsAtOnce();
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

/// Keeps SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGPIPE waiting while it lives, for a Signals or a
/// launcher to take: a process that has made a run folder and ends before those are there leaves it
/// behind. A SIGPIPE that was not handled is dropped: the log knows of it. In the main thread, one
/// at a time.
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
