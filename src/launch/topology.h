// Who we are among the processes of a run, read from the environment.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "launch/variables.h"

namespace ddptrain {

class Heartbeats;
class RankArena;
class ReportedNumber;

/// The place of this process. `store` is the folder of a FileStore when we launched the ranks
/// ourselves; `address` and `port` name a TCPStore when another launcher did.
struct Topology {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;
  std::string store;
  std::string address;
  int port = 0;
  /// What named both, for messages.
  std::string named_by = "MASTER_ADDR and MASTER_PORT";
  bool address_is_derived = false;  // from the job: no variable names it
  bool store_is_served =
      false;           // torchrun's agent already serves the TCPStore: every rank is a client
  std::string run_id;  // keeps stores of different runs and restarts apart
  /// Which start of the run this is, from 1: one more after each failure. Rank 0's number counts;
  /// ranks of other nodes come to the first that it serves which is not below theirs.
  std::int64_t start = 1;
  ReportedNumber* came_to = nullptr;  // where this rank reports that start; null: nowhere
  /// One process per node was started, which starts the ranks of its node: `rank` and `world` count
  /// nodes, `local_world` is the ranks of each node, 0 where its devices decide.
  bool is_node = false;
  /// GPUs that the launcher gave to each rank alone; 0: it does not say.
  int gpus_of_rank = 0;
  /// Where this rank leaves signs of life for the ranks of its world; null: nowhere.
  const Heartbeats* beats = nullptr;
  /// What the ranks of this machine share where they are all; null: nothing.
  std::shared_ptr<RankArena> arena = nullptr;
  bool joined() const { return world > 1 || !address.empty(); }
};

/// Started by torchrun, Kubeflow, Slurm, Open MPI, PMI, LSF or SkyPilot? Then the topology they
/// describe, world 1 included; otherwise world 1 with nothing set. An Error (Exit::recipe) that
/// names the variable where an environment is half set, or says that there are several nodes in a
/// way that is not read (launch/several_nodes.h): a rank never trains alone by mistake.
Topology topology_from_environment();
Topology topology_from(const Environment& environment);

/// What a launcher's variables say; nothing where it sets none. An Error as above where they are
/// half set.
std::optional<Topology> topology_of_launcher(const Environment& environment);

/// A rank of a node that starts `local_world` of them.
Topology rank_on_node(const Topology& node, int local_rank, int local_world);

}  // namespace ddptrain
