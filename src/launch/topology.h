// Who we are among the processes of a run, read from the environment. Torch-free.
#pragma once

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

}  // namespace ddptrain
