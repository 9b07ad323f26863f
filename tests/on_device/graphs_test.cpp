// Graphs of the simulated device: nothing is computed before a replay, a replay runs no code of the
// host, and what a graph cannot hold is an error, as on CUDA.
#include <ATen/TensorOperators.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/layers/norm.h"
#include "models/operators/dropout_mask.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

class SimulatedGraph : public testing::Test {
 protected:
  SimulatedGraph() : device_(test::simulated_device()) { simulated::reset(); }

  std::unique_ptr<DeviceGraph> captured(const DeviceWork& work) {
    return test::simulated_accelerator().capture(device_.index(), work);
  }
  at::Tensor filled(double value) const {
    return at::full({2, 3}, value, at::TensorOptions(device_).dtype(at::kDouble));
  }
  static double sum(const at::Tensor& tensor) { return tensor.sum().item<double>(); }

  void expect_refused(const DeviceWork& work) {
    try {
      captured(work);
      ADD_FAILURE() << "it was captured";
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr("not permitted when stream is capturing"));
    }
  }

  at::Device device_;
};

TEST_F(SimulatedGraph, ComputesAtItsReplaysAlone) {
  const auto x = filled(1);
  at::Tensor y;
  const auto graph = captured([&] { y = x.mul(2).add(1); });
  EXPECT_TRUE(std::isnan(sum(y)));
  for (const double value : {1.0, 5.0, -2.0}) {
    x.fill_(value);
    graph->replay();
    EXPECT_EQ(sum(y), 6 * (2 * value + 1));
  }
}

TEST_F(SimulatedGraph, IsOneLaunchWithoutTheHostsCode) {
  const auto x = filled(3);
  int calls = 0;
  const auto graph = captured([&] {
    ++calls;
    for (int i = 0; i < 10; ++i) x.add_(1);
  });
  EXPECT_EQ(simulated::counts().operators, 1) << "x itself";
  graph->replay();
  graph->replay();
  EXPECT_EQ(simulated::counts().operators, 3);
  EXPECT_EQ(simulated::counts().replays, 2);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sum(x), 6 * 23);
}

TEST_F(SimulatedGraph, ChangesNothingWhileItIsCaptured) {
  const auto x = filled(3);
  const auto graph = captured([&] { x.mul_(2).slice(1, 1).zero_(); });
  EXPECT_EQ(sum(x), 18);
  graph->replay();
  EXPECT_EQ(sum(x), 12);
}

TEST_F(SimulatedGraph, KeepsTheMemoryOfItsTensors) {
  const auto x = filled(1);
  at::Tensor y;
  const auto graph = captured([&] {
    const auto between = x.add(1);
    y = between.view({6}).slice(0, 2).mul(between.sum());
  });
  const auto others = filled(77);
  graph->replay();
  EXPECT_EQ(sum(y), 4 * 2 * 12);
  EXPECT_EQ(sum(others), 6 * 77);
}

TEST_F(SimulatedGraph, HoldsForwardAndBackwardPasses) {
  const auto x = filled(2);
  auto weight = filled(3).requires_grad_();
  at::Tensor gradient;
  const auto graph = captured([&] {
    weight.mutable_grad().reset();
    weight.mul(x).pow(2).sum().backward();
    gradient = weight.grad();
  });
  for (const double value : {2.0, 4.0}) {
    x.fill_(value);
    graph->replay();
    EXPECT_EQ(sum(gradient), 6 * 2 * 3 * value * value);
  }
}

TEST_F(SimulatedGraph, HoldsConvolutions) {
  const auto options = at::TensorOptions(device_).dtype(at::kDouble);
  const auto x = at::ones({1, 1, 3, 3}, options);
  auto weight = at::ones({1, 1, 2, 2}, options).requires_grad_();
  at::Tensor y, gradient;
  const auto graph = captured([&] {
    weight.mutable_grad().reset();
    y = at::conv2d(x, weight).sum();
    y.backward();
    gradient = weight.grad();
  });
  for (const double value : {1.0, 3.0}) {
    x.fill_(value);
    graph->replay();
    EXPECT_EQ(sum(y.detach()), 16 * value);
    EXPECT_EQ(sum(gradient), 16 * value);
  }
}

TEST_F(SimulatedGraph, MovesTheStatisticsOfBatchNormAtItsReplays) {
  BatchNorm norm(3, {.momentum = 0.5});
  norm.to(device_, at::kDouble);
  const auto x = filled(0);
  x.select(0, 1).fill_(2);  // mean 1, variance 2 of two values
  const auto graph = captured([&] { norm.forward(x, {.training = true}); });
  const auto mean = norm.named_buffers().front().tensor;
  EXPECT_EQ(sum(mean), 0);
  graph->replay();
  EXPECT_DOUBLE_EQ(sum(mean), 3 * 0.5);
  graph->replay();
  EXPECT_DOUBLE_EQ(sum(mean), 3 * 0.75);
}

TEST_F(SimulatedGraph, DropsByTheStepThatIsOnTheDevice) {
  const auto x = at::ones({4, 50}, at::TensorOptions(device_).dtype(at::kDouble));
  const auto step = at::zeros({}, at::TensorOptions(device_).dtype(at::kLong));
  at::Tensor y;
  const auto graph = captured([&] {
    y = drop(x, {.key = 7, .step = 99, .rows = 4, .elements = 50, .step_there = step}, 0.5);
  });
  for (const std::int64_t number : {3, 4}) {
    step.fill_(number);
    graph->replay();
    const auto expected = drop(at::ones({4, 50}, at::kDouble),
                               {.key = 7, .step = number, .rows = 4, .elements = 50}, 0.5);
    EXPECT_TRUE(y.cpu().equal(expected));
  }
}

TEST_F(SimulatedGraph, HasNumbersOfTheHostAsTheyWere) {
  const auto x = filled(1);
  const auto factor = at::scalar_tensor(2.0, at::kDouble);
  at::Tensor y;
  const auto graph = captured([&] { y = x.mul(factor); });
  factor.fill_(9);
  graph->replay();
  EXPECT_EQ(sum(y), 12);
}

TEST_F(SimulatedGraph, CopiesFromPinnedMemoryAtItsReplays) {
  const auto host = at::full({3}, 1.0, at::TensorOptions(at::kDouble).pinned_memory(true));
  const auto there = at::zeros({3}, at::TensorOptions(device_).dtype(at::kDouble));
  const auto graph = captured([&] { there.copy_(host, /*non_blocking=*/true); });
  EXPECT_EQ(sum(there), 0);
  host.fill_(4);
  graph->replay();
  EXPECT_EQ(sum(there), 12);
}

TEST_F(SimulatedGraph, HoldsNothingThatTheHostWaitsFor) {
  auto x = filled(3);
  const c10::impl::VirtualGuardImpl guard(device_.type());
  expect_refused([&] { x.sum().item<double>(); });
  expect_refused([&] { x.cpu(); });
  expect_refused([&] { x.nonzero(); });
  expect_refused([&] { x.copy_(at::ones({2, 3}, at::kDouble)); });
  expect_refused([&] { guard.synchronizeDevice(device_.index()); });
  expect_refused([&] {
    x.add_(1);
    guard.getStream(device_).synchronize();
  });
  EXPECT_EQ(sum(x), 18) << "nothing was computed";
  const auto graph = captured([&] { x.add_(1); });
  graph->replay();
  EXPECT_EQ(sum(x), 24);
}

TEST_F(SimulatedGraph, IsNotRefusedForWhatOtherStreamsWaitFor) {
  const auto x = filled(3);
  const c10::impl::VirtualGuardImpl guard(device_.type());
  const auto side = guard.getStreamFromGlobalPool(device_);
  captured([&] {
    x.add_(1);
    const c10::StreamGuard on(side);
    EXPECT_EQ(sum(filled(1)), 6);
  });
}

}  // namespace
}  // namespace ddptrain
