// A forked rank, as the launcher sees it.
#pragma once

#include <functional>
#include <string>

#include "launch/child_process.h"
#include "launch/topology.h"

namespace ddptrain {

/// A rank in a process group of its own that the kernel kills when this process dies.
class RankProcess : public ChildProcess {
 public:
  using Main = std::function<int(const Topology&)>;

  /// Forks. The child restores `signals`, sends its output to `log` (empty: it keeps ours), runs
  /// `main` and exits with its code; what it throws is reported and gives the exit code.
  RankProcess(const Topology& topology, const Main& main, const std::string& log,
              const sigset_t& signals);

  int rank() const { return rank_; }

 private:
  int rank_;
};

}  // namespace ddptrain
