// The table of machines, memory of a device, useful numbers of devices, and CPU ranks.
#include <gtest/gtest.h>

#include <set>

#include "forecast/limit.h"
#include "forecast/machine.h"
#include "forecast/memory.h"
#include "forecast/ranks.h"

namespace ddptrain {
namespace {

TEST(Machines, HaveDifferentNamesAndASourceForEveryNumber) {
  std::set<std::string_view> names;
  for (const auto& machine : machines()) {
    EXPECT_TRUE(names.insert(machine.name).second) << machine.name;
    EXPECT_TRUE(machine.name.ends_with("x" + std::to_string(machine.node))) << machine.name;
    for (const auto& [name, constant] : constants_of(machine)) {
      EXPECT_GT(constant.value, 0) << machine.name << ": " << name;
      EXPECT_FALSE(constant.source.empty()) << machine.name << ": " << name;
    }
  }
  EXPECT_EQ(find_machine("h100x9"), nullptr);
}

TEST(Constants, AreWrittenInUnitsThatAPersonReads) {
  EXPECT_EQ(to_text({989.4e12, "FLOP/s", ""}), "989.4 TFLOP/s");
  EXPECT_EQ(to_text({80e9, "B", ""}), "80 GB");
  EXPECT_EQ(to_text({0.337, "", ""}), "33.7 %");
  EXPECT_EQ(to_text({25e-6, "s", ""}), "25 us");
  EXPECT_EQ(to_text({14, "cores", ""}), "14 cores");
}

// ZeRO, figure 1: 7.5e9 parameters, Adam in mixed precision (K = 12), 64 devices: 120, 31.4, 16.6
// and 1.9 GB. Weights and gradients there are whole at no time; here blocks are, of which there
// are many.
TEST(DeviceBytes, AreThoseOfTheZeroPaper) {
  const MemoryParts parts{
      .weights = 15e9, .gradients = 15e9, .optimizer = 90e9, .root = 0, .block = 1e-6};
  const auto gigabytes = [&](Sharding sharding) { return device_bytes(parts, sharding, 64) / 1e9; };
  EXPECT_NEAR(gigabytes(Sharding::none), 120, 0.1);
  EXPECT_NEAR(gigabytes(Sharding::optimizer), 31.4, 0.1);
  EXPECT_NEAR(gigabytes(Sharding::gradients), 16.6, 0.1);
  EXPECT_NEAR(gigabytes(Sharding::weights), 1.9, 0.1);
}

// A tenth in no block, blocks of 5 %: of weights 10 + 90 / 10 + 2 * 5, of gradients 10 + 100 / 10
// + 2 * 5.
TEST(DeviceBytes, OfBlocksThatAreWholeAreNotSaved) {
  const MemoryParts parts{
      .weights = 100, .gradients = 100, .activations = 7, .rest = 1, .root = 0.1, .block = 0.05};
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::weights, 10), 29 + 30 + 8);
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::gradients, 10), 100 + 30 + 8);
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::none, 10), 208);
}

// Buffers of at most 5, of at least the 2 that a step looks at at once, and of no more than half of
// the state: 2 * 5, 2 * 2 and 60 / 20 of it.
TEST(DeviceBytes, OfOffloadedStateAreTwoBuffers) {
  MemoryParts parts{.weights = 100, .optimizer = 60, .buffer = 5};
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::optimizer, 2), 100 + 2 * 5);
  EXPECT_DOUBLE_EQ(host_bytes(parts, Sharding::optimizer, 2), 30);
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::optimizer, 20), 100 + 3);
  parts.whole_state = 2;
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::optimizer, 20), 100 + 2 * 2);
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::none, 1), 160);
  EXPECT_DOUBLE_EQ(host_bytes(parts, Sharding::none, 1), 0);
  parts.buffer = 0;
  EXPECT_DOUBLE_EQ(host_bytes(parts, Sharding::optimizer, 2), 0);
}

// Of blocks 10 as they are and 80 that travel as 40: those, and a quarter of the 80; or a quarter
// of all and two slots in which 5 travel as 5 / 90 * (10 + 40).
TEST(DeviceBytes, OfWeightsThatTravelInAnotherTypeAreBothTypes) {
  const MemoryParts parts{.weights = 100, .root = 0.1, .block = 0.05, .cast = 0.8};
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::gradients, 4), 10 + 10 + 40 + 20);
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::weights, 4), 10 + 90 / 4. + 2 * 5 / 90. * 50);
}

// A group of 10 has the bytes of 10 devices, on however many; zero1 has no groups, and fewer
// devices than a group are one.
TEST(DeviceBytes, AreSharedAmongTheDevicesOfAGroup) {
  MemoryParts parts{.weights = 100, .gradients = 100, .optimizer = 60, .root = 0.1, .block = 0.05};
  const double all = device_bytes(parts, Sharding::weights, 10);
  parts.group = 10;
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::weights, 40), all);
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::optimizer, 40), 200 + 60 / 40.);
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::gradients, 4), 100 + 45 + 15);
  parts.buffer = 5;
  EXPECT_DOUBLE_EQ(host_bytes(parts, Sharding::weights, 40), 6);
}

// Whole ones and a tenth of their sums.
TEST(DeviceBytes, OfGradientsThatAreSummedLastAreThoseOfAll) {
  const MemoryParts parts{
      .weights = 100, .gradients = 100, .root = 0.1, .block = 0.05, .whole_gradients = true};
  EXPECT_DOUBLE_EQ(device_bytes(parts, Sharding::weights, 10), 29 + 110);
}

TEST(Checkpoint, TakesAsLongAsItsDigest) {
  EXPECT_DOUBLE_EQ(checkpoint_seconds({.weights = 32e9, .optimizer = 64e9}), 96 / 1.8);
}

TEST(UsefulDevices, EndWhereDoublingBringsLittle) {
  EXPECT_EQ(useful_devices({{1, 100}, {2, 190}, {4, 340}, {8, 380}}), 4);
  EXPECT_EQ(useful_devices({{1, 100}, {2, 190}}), std::nullopt);
  EXPECT_EQ(limit_sentence({{4, 340}, {8, 380}}),
            "beyond 4 devices, doubling them gives less than 20 % more samples a second");
  EXPECT_EQ(limit_sentence({{4, 340}, {8, 680}}),
            "up to 8 devices, each doubling gives at least 20 % more samples a second");
}

MeasuredStep two_ranks() {
  return {.devices = 2,
          .cores = 2,
          .threads = 1,
          .samples = 64,
          .passes = 0.2,
          .update = 0.01,
          .communication = 0.02,
          .loader_alone = 0.001};
}

TEST(Ranks, ThatWereMeasuredAreGivenBack) {
  EXPECT_DOUBLE_EQ(forecast_ranks({two_ranks()}, 2, 1, 64).seconds(), 0.23);
}

// Twice the ranks on the same cores: each computes on half the rows, for twice as long; it updates
// its own weights on half a core; a ring of four sends 3/2 of what one of two sends.
TEST(Ranks, ShareTheCoresOfAMachine) {
  const auto step = forecast_ranks({two_ranks()}, 4, 1, 64);
  EXPECT_DOUBLE_EQ(step.passes, 0.2);
  EXPECT_DOUBLE_EQ(step.update, 0.02);
  EXPECT_DOUBLE_EQ(step.communication, 0.03);
  EXPECT_DOUBLE_EQ(forecast_ranks({two_ranks()}, 4, 1, 128).passes, 0.4);
}

TEST(Ranks, WithCoresToSpareComputeFaster) {
  auto measured = two_ranks();
  measured.cores = 8;
  EXPECT_DOUBLE_EQ(forecast_ranks({measured}, 4, 1, 64).passes, 0.1);
  EXPECT_DOUBLE_EQ(forecast_ranks({measured}, 4, 2, 64).passes, 0.05);
}

TEST(Ranks, WaitForALoaderThatIsSlower) {
  auto measured = two_ranks();
  measured.loader_alone = 1;
  EXPECT_DOUBLE_EQ(forecast_ranks({measured}, 2, 1, 64).seconds(), 1);
}

}  // namespace
}  // namespace ddptrain
