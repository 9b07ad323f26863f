// The ranks of a run after they have met: one group per purpose, so that collectives of different
// purposes never wait for each other.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distributed/control/failure_board.h"
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
  /// Where groups of ranks have a model together: this rank's, and that of the ranks which have the
  /// same part of it in other groups. Null: all ranks have one together.
  std::unique_ptr<Group> shard_group = nullptr;
  std::unique_ptr<Group> replica_group = nullptr;
  /// Those with which this rank has a model together.
  Group& sharing() const { return shard_group ? *shard_group : *gradients; }
  /// Of the threads that write checkpoints while training goes on. Null: nothing does.
  std::unique_ptr<Group> saving = nullptr;
  std::unique_ptr<FailureBoard> board =
      nullptr;  // of ranks that one launcher does not watch; else null
  /// How long the numbers of a step may take to come from the device, where nothing else ends ranks
  /// that hang.
  std::optional<std::chrono::milliseconds> step_limit = {};
};

/// JoinOptions::shard_group: as many as each node has, next to each other.
inline constexpr int kRanksOfNode = -1;

struct JoinOptions {
  const Accelerator* accelerator = nullptr;  // null: on the CPU
  int device = 0;                            // this rank's
  bool statistics = true;                    // batch norm needs a group of its own
  std::chrono::milliseconds start{120'000};
  std::chrono::milliseconds step{300'000};
  /// A launcher ends ranks that hang: collectives wait for as long as they are let. Their clocks
  /// would run on while all ranks are suspended (Ctrl-Z), the launcher's do not.
  bool supervised = false;
  bool ordered_sums = false;  // of gradients (make_ordered_group)
  /// Ranks that have a model together: 0: all; kRanksOfNode: those of a node. An Error
  /// (Exit::recipe) where the ranks are not groups of so many.
  int shard_group = 0;
  bool connects_alone = false;  // a world of one has groups of the device too
};

/// Meets the other ranks: on the CPU those of one launcher on one node in the memory that they
/// share; else through a FileStore on one node, a TCPStore when started by torchrun and the like.
/// Gloo is bound to the loopback address by name on one node. Throws an Error (Exit::device) naming
/// who is missing.
World join(const Topology& topology, const JoinOptions& options);

/// How long a collective may take.
std::chrono::milliseconds collective_timeout(const JoinOptions& options);

/// An Error (Exit::recipe) where `world` ranks are not groups of `size`.
void require_whole_groups(int world, int size);

/// A world of one.
World single_world();

/// Ranks as threads of one process: worlds[r] is for the thread that plays rank r. For tests.
std::vector<World> make_thread_worlds(int size, int shard_group = 0);

/// Every rank must have the same `value` of `what` ("the recipe", "the data"); otherwise an Error
/// that names the ranks. Digests are compared; values travel where they differ.
void agree(World& world, const std::string& what, const std::string& value);

}  // namespace ddptrain
