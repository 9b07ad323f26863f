// The simulated device itself: what it counts and what it refuses.
#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "launch/failure.h"
#include "simulated/use.h"

namespace ddptrain {

/// Exported, so that a wait in it has a place.
double read_the_sum(const at::Tensor& tensor) { return tensor.sum().item<double>(); }

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class SimulatedDevice : public testing::Test {
 protected:
  SimulatedDevice() : device_(test::simulated_device()) {}
  at::Tensor ones() const { return at::ones({3}, at::TensorOptions(at::kDouble).device(device_)); }
  at::Device device_;
};

TEST_F(SimulatedDevice, ComputesAsTheCpu) {
  const auto x = at::tensor({1.0, 2.0, 4.0}, at::kDouble);
  const auto far = x.to(device_);
  EXPECT_EQ(far.device(), device_);
  EXPECT_TRUE((far.square() + 1).div(far).cpu().equal((x.square() + 1).div(x)));
}

TEST_F(SimulatedDevice, CountsOperatorsButNoViews) {
  const auto x = ones();
  simulated::reset();
  const auto y = (x + x).view({3, 1}).t() * 2;
  EXPECT_EQ(simulated::counts().operators, 2);
  EXPECT_EQ(simulated::counts().waited(), 0);
}

TEST_F(SimulatedDevice, CountsWaitsWithTheirPlace) {
  const auto x = ones();
  simulated::reset();
  EXPECT_EQ(read_the_sum(x), 3);
  const auto counts = simulated::counts();
  EXPECT_EQ(counts.items, 1);
  EXPECT_THAT(counts.waits, ElementsAre(Pair("item in ddptrain::read_the_sum", 1)));
}

TEST_F(SimulatedDevice, CountsCopiesByTheMemoryThatTheyComeFrom) {
  const auto pageable = at::ones({4});
  const auto pinned = at::ones({4}).pin_memory();
  simulated::reset();
  const auto a = pageable.to(device_), b = pinned.to(device_, /*non_blocking=*/true);
  EXPECT_EQ(simulated::counts().from_pageable, 1);
  EXPECT_EQ(simulated::counts().from_pinned, 1);
  EXPECT_EQ(simulated::counts().waited(), 0);
  const auto back = a.cpu();
  EXPECT_EQ(simulated::counts().to_host, 1);
  EXPECT_EQ(simulated::counts().waited(), 1);
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// LibTorch looks itself in the first operators, but not in the last.
TEST_F(SimulatedDevice, RefusesAnOperatorOnTwoDevices) {
  const auto x = ones();
  EXPECT_EQ(refusal([&] { x + at::scalar_tensor(1.0); }), "");  // a number may come from the host
  EXPECT_THAT(refusal([&] { x + at::ones({3}, at::kDouble); }), HasSubstr("hpu:0 and cpu"));
  EXPECT_THAT(refusal([&] { x + x.to(test::simulated_device(1)); }), HasSubstr("hpu:0 and hpu:1"));
  EXPECT_THAT(refusal([&] {
                x.index_select(0, at::tensor({0, 1}));
              }),
              HasSubstr("aten::index_select mixes hpu:0 and cpu"));
}

using SimulatedDeviceDeathTest = SimulatedDevice;

TEST_F(SimulatedDeviceDeathTest, HidesItsMemoryFromTheHost) {
  const auto x = ones();
  EXPECT_EXIT(std::exit(static_cast<int>(*x.data_ptr<double>())), testing::KilledBySignal(SIGSEGV),
              "");
}

TEST_F(SimulatedDevice, EndsItsMemoryAsCudaDoes) {
  simulated::set_memory(1 << 20);
  try {
    at::empty({1 << 20}, at::TensorOptions(at::kDouble).device(device_));
    ADD_FAILURE() << "8 MiB fitted into 1";
  } catch (...) {
    EXPECT_EQ(failure_of(std::current_exception(), 0).code, Exit::memory);
  }
  simulated::set_memory(0);
}

TEST_F(SimulatedDevice, KeepsFreedMemoryUntilToldOtherwise) {
  const auto& accelerator = test::simulated_accelerator();
  accelerator.empty_cache();
  accelerator.reset_peak_memory(0);
  const auto before = accelerator.memory(0).reserved;
  at::empty({1 << 17}, at::TensorOptions(at::kDouble).device(device_));  // 1 MiB, freed at once
  EXPECT_EQ(accelerator.memory(0).reserved, before + (1 << 20));
  EXPECT_EQ(accelerator.memory(0).peak_reserved, before + (1 << 20));
  accelerator.empty_cache();
  EXPECT_EQ(accelerator.memory(0).reserved, before);
}

}  // namespace
}  // namespace ddptrain
