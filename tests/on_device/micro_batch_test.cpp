// batch.micro: auto on a device that counts its memory.
#include "train/build/micro_batch.h"

#include <gtest/gtest.h>

#include "simulated/use.h"
#include "train/build/bounded_training.h"

namespace ddptrain {
namespace {

using namespace test;

// Of a device that has just what the trial takes, and of one with a twentieth more.
TEST(MicroBatchOnADevice, FitsWhereTheDeviceKeepsRoom) {
  const auto& device = test::simulated_accelerator();
  auto world = single_world();
  auto t = training(world, 1000, DeviceKind::simulated);
  EXPECT_TRUE(fits_in_memory(t, 64));
  const auto needed = device.memory(0).peak_reserved;
  simulated::set_memory(needed);
  EXPECT_FALSE(fits_in_memory(t, 64));
  simulated::set_memory(needed - 4096);  // a page less: out of memory
  EXPECT_FALSE(fits_in_memory(t, 64));
  simulated::set_memory(needed * 20 / 19 + 20);
  EXPECT_TRUE(fits_in_memory(t, 64));
  simulated::set_memory(0);
}

TEST(MicroBatchOnADevice, LeavesNoMemoryInTheCacheOfTheDevice) {
  const auto& device = test::simulated_accelerator();
  auto world = single_world();
  auto t = training(world, 1000, DeviceKind::simulated);
  fits_in_memory(t, 8);  // gradients and buffers are where they were from here on
  const auto before = device.memory(0).reserved;
  fits_in_memory(t, 64);
  EXPECT_EQ(device.memory(0).reserved, before);
}

}  // namespace
}  // namespace ddptrain
