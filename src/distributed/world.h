// The ranks of a run after they have met: one group per purpose, so that collectives of different
// purposes never wait for each other.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributed/failure_board.h"
#include "distributed/group.h"
#include "launch/topology.h"

namespace ddptrain {

class Accelerator;

struct World {
  int rank = 0;
  int local_rank = 0;
  int size = 1;
  std::unique_ptr<Group> control;     // agreement, evaluation, stop flags; CPU tensors
  std::unique_ptr<Group> gradients;   // on the device
  std::unique_ptr<Group> statistics;  // sync_bn, on the device; null without it
  std::unique_ptr<FailureBoard> board =
      nullptr;  // of ranks that one launcher does not watch; else null
  /// How long the numbers of a step may take to come from the device, where nothing else ends ranks
  /// that hang.
  std::optional<std::chrono::milliseconds> step_limit = {};
};

struct JoinOptions {
  const Accelerator* accelerator = nullptr;  // null: on the CPU
  int device = 0;                            // this rank's
  bool statistics = true;                    // batch norm needs a group of its own
  std::chrono::milliseconds start{120'000};
  std::chrono::milliseconds step{300'000};
  /// A launcher ends ranks that hang: collectives wait for as long as they are let. Their clocks
  /// would run on while all ranks are suspended (Ctrl-Z), the launcher's do not.
  bool supervised = false;
  bool connects_alone = false;  // a world of one has groups of the device too
};

/// Meets the other ranks (FileStore on one node, TCPStore when started by torchrun and the like).
/// Gloo is bound to the loopback address by name on one node. Throws an Error (Exit::device) naming
/// who is missing.
World join(const Topology& topology, const JoinOptions& options);

/// A world of one.
World single_world();

/// Ranks as threads of one process: worlds[r] is for the thread that plays rank r. For tests.
std::vector<World> make_thread_worlds(int size);

/// Every rank must say the same of `what` ("the recipe", "the data"); otherwise an Error that names
/// the ranks.
void agree(World& world, const std::string& what, const std::string& value);

}  // namespace ddptrain
