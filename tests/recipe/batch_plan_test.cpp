#include "recipe/batch_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ddptrain {
namespace {

BatchSpec spec(std::optional<std::int64_t> global, std::optional<std::int64_t> micro,
               std::optional<std::int64_t> accumulate) {
  BatchSpec batch;
  batch.global = global;
  batch.micro.value = micro;
  batch.accumulate.value = accumulate;
  return batch;
}

std::string refusal(const BatchSpec& batch, std::int64_t devices) {
  try {
    plan_batch(batch, devices);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "accepted";
}

TEST(BatchPlan, SolvesForWhatIsNotGiven) {
  EXPECT_EQ(to_text(plan_batch(spec(64, 16, {}), 2)),
            "global 64 = micro 16 x accumulate 2 x 2 devices");
  EXPECT_EQ(to_text(plan_batch(spec(64, {}, {}), 2)),
            "global 64 = micro 32 x accumulate 1 x 2 devices");
  EXPECT_EQ(to_text(plan_batch(spec(64, {}, 4), 1)),
            "global 64 = micro 16 x accumulate 4 x 1 device");
  EXPECT_EQ(to_text(plan_batch(spec({}, 8, 3), 2)),
            "global 48 = micro 8 x accumulate 3 x 2 devices");
}

TEST(BatchPlan, PerDeviceGrowsWithTheDevices) {
  BatchSpec batch;
  batch.per_device = 32;
  EXPECT_EQ(plan_batch(batch, 4).global, 128);
  EXPECT_EQ(plan_batch(batch, 4).micro, 32);
}

TEST(BatchPlan, NamesTheNearestLegalValues) {
  EXPECT_EQ(
      refusal(spec(250, 32, {}), 4),
      "batch.global: 250 cannot be split over 4 devices with batch.micro 32; nearest: 128, 256");
  EXPECT_EQ(refusal(spec(10, {}, {}), 4),
            "batch.global: 10 cannot be split over 4 devices; nearest: 8, 12");
  EXPECT_EQ(refusal(spec(3, {}, {}), 4),
            "batch.global: 3 cannot be split over 4 devices; nearest: 4");
  EXPECT_EQ(
      refusal(spec(64, 16, 3), 2),
      "batch.accumulate: 3 does not fit; batch.global 64 = micro 16 x accumulate 2 x 2 devices");
  BatchSpec batch;
  batch.per_device = 10;
  batch.micro.value = 4;
  EXPECT_EQ(
      refusal(batch, 2),
      "batch.per_device: 10 cannot be split over 2 devices with batch.micro 4; nearest: 8, 12");
}

TEST(BatchPlan, IsSixtyFourWhereNothingIsSaid) {
  EXPECT_EQ(to_text(plan_batch({}, 2)), "global 64 = micro 32 x accumulate 1 x 2 devices");
  EXPECT_EQ(to_text(plan_batch(spec({}, {}, 4), 1)),
            "global 64 = micro 16 x accumulate 4 x 1 device");
  EXPECT_EQ(refusal({}, 3), "batch.global: 64 cannot be split over 3 devices; nearest: 63, 66");
}

TEST(WrittenDevices, AreOneWithoutAModeAndOpenWhereTheMachineDecides) {
  ParallelSpec parallel;
  parallel.devices.ids = {0, 2, 3};
  EXPECT_EQ(written_devices(parallel), 1);
  for (const auto mode : {Mode::dp, Mode::ddp}) {
    parallel.mode = mode;
    parallel.devices = {};
    EXPECT_EQ(written_devices(parallel), std::nullopt);
    parallel.devices.count.value = 4;
    EXPECT_EQ(written_devices(parallel), 4);
    parallel.devices.ids = {0, 2, 3};
    EXPECT_EQ(written_devices(parallel), 3);
  }
}

}  // namespace
}  // namespace ddptrain
