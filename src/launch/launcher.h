// One process per rank on this machine: starting them, watching them, ending them.
#pragma once

#include <functional>
#include <string>

#include "launch/heartbeat.h"
#include "launch/signals.h"
#include "launch/topology.h"

namespace ddptrain {

struct LaunchOptions {
  /// Where a rank above 0 writes its stdout and stderr (appended); empty: /dev/null. Rank 0 keeps
  /// the terminal.
  std::function<std::string(int rank)> log_file;
  /// Where the ranks leave signs of life; null: nothing reads them.
  const Heartbeats* heartbeats = nullptr;
  double start_seconds = 120;  // without a sign of life before step 0: a hang
  double step_seconds = 300;   // later
  double grace_seconds = 5;    // from SIGTERM to SIGKILL once a rank has failed
  double cause_seconds = 10;   // that a rank's lost peer may take to end
  /// The node whose ranks these are, where there are several (Topology::is_node): they meet those
  /// of the other nodes at its address, and write where this process does. Null: no others.
  const Topology* node = nullptr;
  Usr1 usr1 = Usr1::saves;
};

/// Runs `rank_main` in `ranks` forked processes and returns the exit code of the whole: 0, the
/// largest of orderly codes (`expect`, 128 + n after a forwarded signal), or that of the first
/// failure, which ends all others and is logged. What `rank_main` throws is a failure.
/// To be called before this process has a second thread or has touched torch.
///   SIGTERM, SIGHUP, first SIGINT   forwarded once: ranks finish the step, save and leave
///   second SIGINT                   ends all now (130)
///   SIGUSR1, SIGTSTP, SIGCONT       forwarded; SIGUSR1 once where it stops (Usr1)
/// When this process dies, however it dies, so do the ranks.
int launch(int ranks, const std::function<int(const Topology&)>& rank_main,
           const LaunchOptions& options);

}  // namespace ddptrain
