// Identities that any model of a step has to keep, and its formulas with plain numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "forecast/collectives.h"
#include "forecast/step.h"

namespace ddptrain {
namespace {

constexpr double kSample = 0.01;
constexpr std::int64_t kCounts[] = {2, 8, 16, 64, 512, 4096};

KnownMachine h100() { return *find_machine("h100x8"); }

Work some_work(Sharding sharding) {
  return {.micro = 4,
          .accumulate = 2,
          .flops = 1e9,
          .pieces = unit_pieces(4e9, 10),
          .weight_bytes = 2e9,
          .update_bytes = 1e9,
          .sharding = sharding};
}

constexpr Sharding kAll[] = {Sharding::none, Sharding::optimizer, Sharding::gradients,
                             Sharding::weights};

TEST(StepForecast, OfOneDeviceHasNoNetworkAndNoJitter) {
  for (const auto sharding : kAll) {
    const auto work = some_work(sharding);
    const auto step = forecast_step(h100(), work, 1, kSample);
    EXPECT_EQ(step.network, 0);
    EXPECT_EQ(step.jitter, 0);
    EXPECT_DOUBLE_EQ(step.seconds, 8 * kSample + 1e9 / 3350e9);
  }
}

TEST(StepForecast, PartsAddUp) {
  for (const auto sharding : kAll)
    for (const auto devices : kCounts) {
      const auto step = forecast_step(h100(), some_work(sharding), devices, kSample);
      EXPECT_DOUBLE_EQ(step.seconds, step.compute + step.network + step.jitter + step.loader);
      EXPECT_GT(step.network, 0);
    }
}

TEST(StepForecast, IsNeverSlowerWithTwiceTheBandwidth) {
  for (const auto sharding : kAll)
    for (const auto devices : kCounts)
      for (const double sample : {1e-5, 1e-3, 0.1}) {
        const auto work = some_work(sharding);
        auto faster = h100();
        faster.link.value *= 2;
        faster.network.value *= 2;
        faster.bandwidth.value *= 2;
        EXPECT_LE(forecast_step(faster, work, devices, sample).seconds,
                  forecast_step(h100(), work, devices, sample).seconds);
      }
}

TEST(StepForecast, GrowsWithTheTimeOfASample) {
  for (const auto sharding : kAll)
    for (const auto devices : kCounts) {
      double before = 0;
      for (double sample = 1e-6; sample < 1; sample *= 1.5) {
        const auto now = forecast_step(h100(), some_work(sharding), devices, sample).seconds;
        EXPECT_GT(now, before);
        before = now;
      }
    }
}

TEST(StepForecast, WithMoreDevicesOfTheSameBatchIsNotFaster) {
  for (const auto sharding : {Sharding::none, Sharding::weights}) {
    auto work = some_work(sharding);
    work.update_bytes = 0;  // sharded, it shrinks
    double before = 0;
    for (std::int64_t devices = 1; devices <= 1024; devices *= 2) {
      const auto now = forecast_step(h100(), work, devices, kSample).seconds;
      EXPECT_GE(now, before) << devices;
      before = now;
    }
  }
}

// Chunks that wait for nothing: the pass is hidden but for the last piece.
TEST(StepForecast, ExposesTheLastPieceWhereComputingIsSlow) {
  const auto work = some_work(Sharding::none);
  const auto machine = h100();
  const double piece = reduce_seconds(machine, 8, 4e8);
  const auto& common = common_constants();
  const auto step = forecast_step(machine, work, 8, 1);
  EXPECT_NEAR(step.network, piece + latency(machine, 8) + common.interference.value * 9 * piece,
              1e-9);
  EXPECT_NEAR(step.jitter, common.jitter.value * 8 * std::sqrt(2 * std::log(8)), 1e-12);
}

// Nothing to hide behind: every collective counts in full.
TEST(StepForecast, IsTheNetworkWhereComputingIsFree) {
  const auto machine = h100();
  const auto alone = [&](Sharding sharding) {
    auto work = some_work(sharding);
    work.update_bytes = 0;
    return forecast_step(machine, work, 16, 0).seconds;
  };
  const auto weights = 10 * gather_seconds(machine, 16, 2e8);
  const auto gradients = 10 * gather_seconds(machine, 16, 4e8);
  const double small = latency(machine, 16);
  EXPECT_NEAR(alone(Sharding::none), 10 * reduce_seconds(machine, 16, 4e8) + small, 1e-9);
  EXPECT_NEAR(alone(Sharding::gradients), weights + 2 * gradients + 2 * small, 1e-9);
  // Each of two micro-steps gathers for both passes; the root unit stays from one to the other.
  EXPECT_NEAR(alone(Sharding::weights),
              2 * (2 * weights + gradients - gather_seconds(machine, 16, 2e8)) + 2 * small, 1e-9);
}

// Weights and gradients stay in the node, and each device sums its eighth with the other node's.
TEST(StepForecast, OfGroupsIsThatOfAGroupAndTheirSums) {
  const auto machine = h100();
  for (const auto sharding : {Sharding::gradients, Sharding::weights}) {
    auto work = some_work(sharding);
    work.update_bytes = 0;
    const double one = forecast_step(machine, work, 8, 0).seconds - 2 * latency(machine, 8);
    work.group = 8;
    EXPECT_NEAR(forecast_step(machine, work, 16, 0).seconds,
                one + replica_seconds(machine, 16, 8, 4e9 / 8) + 2 * latency(machine, 16), 1e-9);
  }
  auto work = some_work(Sharding::optimizer);
  const double all = forecast_step(machine, work, 16, 0).seconds;
  work.group = 8;
  EXPECT_EQ(forecast_step(machine, work, 16, 0).seconds, all);
}

TEST(StepForecast, WaitsForALoaderThatIsSlower) {
  auto work = some_work(Sharding::none);
  work.load = 1;  // a second of a core: 8 samples on 14 cores
  const auto step = forecast_step(h100(), work, 8, kSample);
  EXPECT_DOUBLE_EQ(step.seconds, 8.0 / 14);
  EXPECT_GT(step.loader, 0.4);
}

TEST(FittedSample, GivesTheMeasuredStepBack) {
  for (const auto sharding : kAll)
    for (const auto devices : kCounts) {
      const auto work = some_work(sharding);
      const double sample = fitted_sample(h100(), work, devices, 0.9);
      EXPECT_NEAR(forecast_step(h100(), work, devices, sample).seconds, 0.9, 1e-9);
    }
}

TEST(SampleSeconds, AreThreeForwardPassesAndFourWithRecomputing) {
  Work work{.flops = 1e12, .arithmetic = "bf16"};
  EXPECT_DOUBLE_EQ(sample_seconds(h100(), work), 3e12 / (989.4e12 * 0.337));
  work.recomputes = true;
  EXPECT_DOUBLE_EQ(sample_seconds(h100(), work), 4e12 / (989.4e12 * 0.337));
  work.activation = 1e12;  // memory is slower
  EXPECT_DOUBLE_EQ(sample_seconds(h100(), work), 4e12 / 3350e9);
}

TEST(SampleSeconds, DependOnPrecisionAndKind) {
  const auto seconds = [](const char* arithmetic, bool convolves) {
    return sample_seconds(h100(),
                          {.flops = 1e12, .convolves = convolves, .arithmetic = arithmetic});
  };
  EXPECT_DOUBLE_EQ(seconds("tf32", false), 2 * seconds("bf16", false));
  EXPECT_DOUBLE_EQ(seconds("fp16", true), seconds("bf16", true));
  EXPECT_LT(seconds("bf16", false), seconds("bf16", true));
  EXPECT_DOUBLE_EQ(seconds("fp32", true), 3e12 / (66.9e12 * 0.5));
}

TEST(Pieces, AreCutAsTheBucketsAre) {
  EXPECT_EQ(bucket_pieces(51, 25, 1), (std::vector<double>{25, 25, 1}));
  EXPECT_EQ(bucket_pieces(31, 25, 1), (std::vector<double>{15, 15, 1}));
  EXPECT_EQ(bucket_pieces(0.5, 25, 1), (std::vector<double>{0.5}));
  EXPECT_EQ(unit_pieces(9, 3), (std::vector<double>{3, 3, 3}));
}

TEST(ShardingOf, FollowsTheModes) {
  EXPECT_EQ(sharding_of("ddp"), Sharding::none);
  EXPECT_EQ(sharding_of("none"), Sharding::none);
  EXPECT_EQ(sharding_of("zero1"), Sharding::optimizer);
  EXPECT_EQ(sharding_of("zero2"), Sharding::gradients);
  EXPECT_EQ(sharding_of("fsdp"), Sharding::weights);
}

}  // namespace
}  // namespace ddptrain
