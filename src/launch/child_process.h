// Child processes. Every process that ddptrain starts is started, signaled and collected here:
//
//   rank_process.h   a rank: forked before any thread exists, watched by launcher.h
//   run_process.h    a run of sweep or verify: forked too, starts its ranks itself
//   in_child.h       work that returns text: forked, stops when this process is asked to
//   ProgramStart     a program such as curl: spawned, also where there are threads
//
// Who watches over children gets its signals from signal_relay.h.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace ddptrain {

/// How a forked child depends on this process.
enum class Tie {
  own_group,  // leads a process group of its own; killed when this process dies
  our_group   // a terminal signals it as it signals us; SIGTERM when this process dies
};

/// What a forked child does.
struct ForkedWork {
  std::string name;  // "rank 1", for the Error (Exit::device) where it cannot be started
  Tie tie;
  sigset_t signals;           // that it starts with blocked
  std::function<int()> work;  // returns its exit code; what it throws is Exit::bug
};

/// A program and the files that it gets as stdin, stdout and stderr.
struct ProgramStart {
  std::vector<std::string> words;  // the program first, which PATH finds
  int input;
  int output;
  int errors;
};

/// A child process. One that still runs when this ends is killed and collected.
class ChildProcess {
 public:
  explicit ChildProcess(const ForkedWork& forked);
  /// Throws a std::system_error with the reason where the program cannot be run.
  explicit ChildProcess(const ProgramStart& program);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool running() const { return running_; }
  int code() const { return code_; }            // exit code, 128 + n after signal n
  int killed_by() const { return killed_by_; }  // 0: it exited
  double ended_at() const { return ended_at_; }

  /// Collects it if it has ended; true when it just did.
  bool reap();
  /// Waits until it has ended.
  void wait();
  /// To its process group, where it leads one.
  void send(int signal) const;
  /// Suspended by SIGSTOP or a debugger?
  bool is_stopped() const;

 private:
  bool collect(int flags);

  pid_t pid_ = 0;
  bool leads_group_ = false;
  bool running_ = true;
  int code_ = 0;
  int killed_by_ = 0;
  double ended_at_ = 0;
};

/// From now on descendants whose parent has died become children of this process.
void adopt_descendants();

/// Waits until this process has no child left. For a process that adopts its descendants, when none
/// of its own children runs any more.
void wait_for_descendants();

}  // namespace ddptrain
