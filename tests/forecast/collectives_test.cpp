// Collectives against what nccl-tests and its issues report.
#include "forecast/collectives.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

const KnownMachine& hopper() { return *find_machine("h100x8"); }

TEST(Ring, OfANodeRunsOverItsLinks) {
  EXPECT_EQ(ring_rate(hopper(), 8), 370.8e9);
  EXPECT_EQ(ring_rate(*find_machine("gb200x72"), 72), 721.8e9);
}

// nccl#1229: GB/s of reduce-scatter over nodes of 8 H100.
TEST(Ring, OverNodesLosesBandwidthAsReported) {
  const double reported[][2] = {{4, 360}, {8, 345}, {16, 320}, {32, 300}, {64, 280}, {128, 260}};
  for (const auto& [nodes, rate] : reported)
    EXPECT_NEAR(ring_rate(hopper(), static_cast<std::int64_t>(8 * nodes)), rate * 1e9, 1);
}

TEST(Ring, NeverGrowsWithMoreNodesAndIsNeverNothing) {
  for (std::int64_t devices = 8; devices < 1 << 20; devices *= 2) {
    EXPECT_GE(ring_rate(hopper(), devices), ring_rate(hopper(), 2 * devices));
    EXPECT_GE(ring_rate(hopper(), devices), 130e9);
  }
}

// nccl#1244: 46 us of the smallest all-reduce on 2 x 8 devices.
TEST(Latency, IsThatOfTheSmallestCollective) {
  EXPECT_EQ(latency(hopper(), 1), 0);
  EXPECT_NEAR(latency(hopper(), 16), 46e-6, 1e-9);
  EXPECT_GT(latency(hopper(), 32), latency(hopper(), 16));
}

TEST(Collectives, OfOneDeviceTakeNoTime) {
  EXPECT_EQ(gather_seconds(hopper(), 1, 1e9), 0);
  EXPECT_EQ(reduce_seconds(hopper(), 1, 1e9), 0);
}

TEST(Collectives, SendWhatARingSends) {
  const double floor = latency(hopper(), 8);
  EXPECT_DOUBLE_EQ(gather_seconds(hopper(), 8, 1e9) - floor, 7.0 / 8 * 1e9 / 370.8e9);
  EXPECT_NEAR(reduce_seconds(hopper(), 8, 1e9) - floor, 2 * 7.0 / 8 * 1e9 / 370.8e9, 1e-15);
}

// Of 4 nodes 8 rings at once, each over one card of a node, at the 90 % of the line rate that rings
// of 4 nodes reach (360 of 400 GB/s).
TEST(Collectives, OfTheSamePlacesInGroupsShareTheCards) {
  EXPECT_EQ(replica_seconds(hopper(), 8, 8, 1e9), 0);
  EXPECT_NEAR(replica_seconds(hopper(), 32, 8, 1e9) - latency(hopper(), 32),
              2 * 3.0 / 4 * 1e9 / (0.9 * hopper().network.value), 1e-12);
  EXPECT_NEAR(replica_seconds(hopper(), 8, 2, 1e9) - latency(hopper(), 8),
              2 * 3.0 / 4 * 1e9 / 370.8e9, 1e-12);
}

TEST(Nodes, AreFilledOneAfterAnother) {
  EXPECT_EQ(nodes_of(hopper(), 1), 1);
  EXPECT_EQ(nodes_of(hopper(), 8), 1);
  EXPECT_EQ(nodes_of(hopper(), 9), 2);
}

}  // namespace
}  // namespace ddptrain
