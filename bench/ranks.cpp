// Starts ranks on this machine, which connect and pass one barrier. Compare with
// bench/peers/torchrun_barrier.py.
//   bench_ranks [RANKS]
#include <cstdio>
#include <cstdlib>

#include "distributed/world.h"
#include "launch/launcher.h"

int main(int argc, char** argv) {
  using namespace ddptrain;
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 4;
  return launch(ranks,
                [](const Topology& topology) {
                  auto world = join(topology, {});
                  world.control->barrier();
                  if (topology.rank == 0) std::printf("{\"ranks\": %d}\n", world.size);
                  std::fflush(stdout);
                  return 0;
                },
                {});
}
