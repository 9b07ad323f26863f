// What a recipe says of devices next to what a launcher started.
#include "jobs/nodes.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

ParallelSpec with_count(std::int64_t count) {
  ParallelSpec parallel;
  parallel.devices.count = Auto<std::int64_t>(count);
  return parallel;
}

/// Ranks of a launcher on nodes of four.
Topology ranks_of_launcher(int world) {
  Topology outer;
  outer.world = world;
  outer.local_world = 4;
  outer.address = "node0";
  return outer;
}

/// Nodes that start ranks each; 0: their devices decide.
Topology nodes_of_launcher(int nodes, int ranks) {
  auto outer = ranks_of_launcher(nodes);
  outer.is_node = true;
  outer.local_world = ranks;
  return outer;
}

TEST(DevicesByLauncher, AreNamedWhereTheRecipeHasAnotherNumber) {
  EXPECT_EQ(devices_by_launcher(with_count(32), ranks_of_launcher(16)),
            "parallel.devices is 32, and a launcher has started 16 ranks: the run has 16 devices; "
            "'parallel.devices=auto' leaves the number to the launcher");
  EXPECT_EQ(devices_by_launcher(with_count(2), nodes_of_launcher(2, 4)),
            "parallel.devices is 2, and a launcher has started 8 ranks: the run has 8 devices; "
            "'parallel.devices=auto' leaves the number to the launcher");
}

TEST(DevicesByLauncher, AreNoNewsWhereTheRecipeSaysTheSameOrNothing) {
  EXPECT_EQ(devices_by_launcher(with_count(16), ranks_of_launcher(16)), "");
  EXPECT_EQ(devices_by_launcher(with_count(8), nodes_of_launcher(2, 4)), "");
  EXPECT_EQ(devices_by_launcher(with_count(8), nodes_of_launcher(2, 0)), "") << "it decides";
  EXPECT_EQ(devices_by_launcher({}, ranks_of_launcher(16)), "");
  EXPECT_EQ(devices_by_launcher(with_count(8), {}), "") << "no launcher";
}

TEST(DevicesByLauncher, AreTheFirstOfThoseThatTheRecipeNames) {
  ParallelSpec parallel;
  parallel.devices.ids = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(devices_by_launcher(parallel, ranks_of_launcher(8)),
            "parallel.devices names 6 devices, and a launcher has started 4 ranks on this node, "
            "which use the first 4");
  parallel.devices.ids = {0, 1, 2, 3};
  EXPECT_EQ(devices_by_launcher(parallel, ranks_of_launcher(8)), "");
}

}  // namespace
}  // namespace ddptrain
