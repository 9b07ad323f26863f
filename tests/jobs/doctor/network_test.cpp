#include "jobs/doctor/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/doctor/network_facts.h"

namespace ddptrain {
namespace {

std::string text_of(const std::vector<NamedObservation>& found, const std::string& name) {
  std::string text;
  for (const auto& each : found)
    if (each.name == name) text += each.found.text + "|" + each.found.advice + "\n";
  return text;
}

// nccl-tests, doc/PERFORMANCE.md: busbw = algbw * 2 (n - 1) / n.
TEST(BusBandwidth, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_bandwidth(1'000'000'000, 1, 2), 1e9);
  EXPECT_DOUBLE_EQ(bus_bandwidth(1'000'000'000, 2, 4), 0.75e9);
}

TEST(NetworkPairs, AreAllOrNeighborsOfMany) {
  EXPECT_EQ(measured_pairs({0}).size(), 0);
  EXPECT_EQ(measured_pairs({0, 8, 16, 24}).size(), 6);
  std::vector<int> many(100);
  EXPECT_EQ(measured_pairs(many).size(), 99);
}

TEST(NetworkTable, SaysWhatItsNumbersAreOf) {
  const auto found =
      time_observations({{8, 25e-6}, {1 << 20, 0.001048576}}, {}, {"a", "b"}, "gloo");
  EXPECT_EQ(text_of(found, "all-reduce"),
            "0.025 ms for 8 B over 2 ranks (gloo, median)|\n"
            "1.05 ms for 1.0 MiB over 2 ranks (gloo, median), bus bandwidth 1 GB/s|\n");
  EXPECT_EQ(text_of(found, "slowest pair"), "");
}

TEST(NetworkTable, NamesThePairThatIsSlow) {
  const double second = static_cast<double>(kPairBytes) * 1e-9;  // 1 GB/s
  const auto found =
      time_observations({}, {{0, 1, 1e-4, second}, {0, 2, 2e-4, 4 * second}, {1, 2, 1e-4, second}},
                        {"a 10.0.0.1", "b 10.0.0.2", "c 10.0.0.3"}, "gloo");
  EXPECT_THAT(text_of(found, "slowest pair"),
              testing::StartsWith("ranks 0 and 2 (a 10.0.0.1 and c 10.0.0.3): 0.2 ms, 0.25 GB/s; "
                                  "the median of 3 pairs: 1 GB/s|it is more than twice as slow"));
}

TEST(NetworkFactsOfRanks, AreListedOnceForEachHostAndAdviseOnTheScarcest) {
  const NetworkFacts big{"a", "10.0.0.1", "eth0", "", std::int64_t{8} << 30, -1, -1};
  const NetworkFacts small{"b", "10.0.0.2", "eth1", "node0", 1 << 20, 1024, 65536};
  const auto found = fact_observations({big, big, facts_of_line(to_line(small))});
  EXPECT_EQ(text_of(found, "host"),
            "a: 2 ranks, address 10.0.0.1 (eth0)|\nb: 1 rank, address 10.0.0.2 (eth1)|\n");
  EXPECT_THAT(text_of(found, "names"), testing::StartsWith("'node0' is not known on b (rank 2)|"));
  EXPECT_THAT(text_of(found, "shared memory"),
              testing::StartsWith("1.0 MiB free in /dev/shm of b|NCCL needs more"));
  EXPECT_THAT(text_of(found, "files"), testing::StartsWith("1024 open at once on b"));
  EXPECT_THAT(text_of(found, "locked memory"), testing::StartsWith("64.0 KiB may be locked on b"));
}

}  // namespace
}  // namespace ddptrain
