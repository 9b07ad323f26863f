// Who we are among the processes of a run, read from the environment. Torch-free.
#pragma once

#include <functional>
#include <string>

namespace ddptrain {

/// The place of this process. `store` is the folder of a FileStore when we launched the ranks
/// ourselves; `address` and `port` name a TCPStore when somebody else did.
struct Topology {
  int rank = 0;
  int world = 1;
  int local_rank = 0;
  int local_world = 1;
  std::string store;
  std::string address;
  int port = 0;
  bool store_is_served =
      false;           // torchrun's agent already serves the TCPStore: every rank is a client
  std::string run_id;  // keeps stores of different runs and restarts apart
  bool joined() const { return world > 1 || !address.empty(); }
};

/// Started by torchrun, Slurm, Open MPI, or PMI? Then the topology they describe, world 1 included;
/// otherwise world 1 with nothing set. Half-set environments are an Error (Exit::recipe) that names
/// the missing variable.
Topology topology_from_environment();

/// The value of a variable, null where it is not set.
using Environment = std::function<const char*(const char*)>;
Topology topology_from(const Environment& environment);

/// The first host of a Slurm node list: "gpu[07-09,12],login1" gives "gpu07".
std::string first_host(const std::string& nodes);

/// Tasks on a node by Slurm's short form: in "4(x2),3" nodes 0 and 1 have 4, node 2 has 3; 0 where
/// the list ends before.
int tasks_on_node(const std::string& tasks_per_node, int node);

}  // namespace ddptrain
