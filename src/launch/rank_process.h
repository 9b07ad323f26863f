// A forked rank, seen from the launcher.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "launch/topology.h"

namespace ddptrain {

/// A child in a process group of its own that the kernel kills when the launcher dies.
class RankProcess {
 public:
  using Main = std::function<int(const Topology&)>;

  /// Forks. The child restores `signals`, sends its output to `log` (empty: it keeps ours), runs
  /// `main` and exits with its code; what it throws is reported and gives the exit code.
  RankProcess(const Topology& topology, const Main& main, const std::string& log,
              const sigset_t& signals);

  int rank() const { return rank_; }
  pid_t pid() const { return pid_; }
  bool running() const { return running_; }
  int code() const { return code_; }            // exit code, 128 + n after signal n
  int killed_by() const { return killed_by_; }  // 0: it exited
  double ended_at() const { return ended_at_; }

  /// Collects it if it has ended; true when it just did.
  bool reap();
  /// Waits until it has ended.
  void wait();
  void send(int signal) const;
  /// Suspended by SIGSTOP or a debugger?
  bool is_stopped() const;

 private:
  bool collect(int flags);

  int rank_;
  pid_t pid_ = 0;
  bool running_ = true;
  int code_ = 0;
  int killed_by_ = 0;
  double ended_at_ = 0;
};

}  // namespace ddptrain
