#include "gpu/device.h"

#include <ATen/Context.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ddptrain::gpu {
namespace {

TEST(RelativeDistance, IsTheShareOfTheExpectedSize) {
  const auto near = at::ones({4});  // of size 2
  EXPECT_NEAR(relative_distance(near.mul(1.25), near), 0.25, 1e-6);
  EXPECT_NEAR(relative_distance(near.mul(1.25), near, 0.1), 0.2, 1e-6);
  EXPECT_EQ(relative_distance(near.mul(1.25), near, 0.6), 0);
}

TEST(RelativeDistance, IsWithinNoBoundWhereThereIsNoSizeOrNoNumber) {
  const auto zero = at::zeros({4});
  EXPECT_EQ(relative_distance(zero, zero), 0);
  EXPECT_TRUE(std::isinf(relative_distance(zero.add(1), zero)));
  const auto nothing = zero.add(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isnan(relative_distance(nothing, zero.add(1), 5)));
}

TEST(TestedDevice, ComputesFp32WithoutTf32) {
  EXPECT_FALSE(at::globalContext().allowTF32CuDNN());
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

}  // namespace
}  // namespace ddptrain::gpu
