// Steps of every optimizer on a device that refuses some of them.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "models/nets.h"
#include "optim/every_optimizer.h"
#include "optim/parameters.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing_optim::build;

std::vector<json> refusing_optimizers() {
  auto all = testing_optim::every_optimizer();
  all.push_back({{"type", "muon"}, {"lr", 0.1}});
  all.push_back({{"type", "sgd"}, {"lr", 0.1}, {"momentum", 0}, {"weight_decay", 0.1}});
  all.push_back({{"type", "lookahead"}, {"inner", {{"type", "nadam"}, {"lr", 0.1}}}, {"k", 2}});
  return all;
}

/// Parameters of an optimizer that is built for them, and gradients for some steps.
struct Steps {
  std::vector<NamedTensor> parameters;
  std::unique_ptr<Optimizer> optimizer;
  std::vector<std::vector<at::Tensor>> gradients;

  void set_gradients(std::size_t step) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      parameters[i].tensor.mutable_grad() = gradients[step][i].clone();
  }
};

constexpr std::size_t kSteps = 7;

Steps steps_on(at::Device device, const json& recipe) {
  Steps steps;
  const auto random = test::seeded(5);
  const std::vector<std::vector<std::int64_t>> shapes{{6, 4}, {7}, {2, 3, 2, 2}};
  for (const auto& shape : shapes)
    steps.parameters.push_back(
        {"p" + std::to_string(steps.parameters.size()),
         at::randn(shape, random, at::kDouble).to(device).set_requires_grad(true)});
  steps.gradients.resize(kSteps);
  for (auto& of_step : steps.gradients)
    for (const auto& shape : shapes)
      of_step.push_back(at::randn(shape, random, at::kDouble).to(device));
  steps.optimizer = build(recipe, {testing_optim::group(steps.parameters)});
  return steps;
}

/// The gradients of a step that is left out are no numbers, as those that make it so.
bool is_refused(std::size_t step) { return step == 0 || step == 3 || step == 4; }

std::vector<at::Tensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<at::Tensor> copied;
  for (const auto& [name, tensor] : tensors) copied.push_back(tensor.detach().clone());
  return copied;
}

void expect_equal(const std::vector<NamedTensor>& actual, const std::vector<at::Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_TRUE(at::equal(actual[i].tensor.detach().cpu(), expected[i].cpu())) << actual[i].name;
}

class RefusedSteps : public testing::TestWithParam<json> {};

TEST_P(RefusedSteps, ChangeNothingOnTheirDevice) {
  const auto device = test::simulated_device();
  auto far = steps_on(device, GetParam());
  const Rates refused{.lr = 0.1, .refused = at::ones({1}, at::kFloat).to(device)};
  for (std::size_t step = 0; step < kSteps; ++step) {
    if (!is_refused(step)) {
      far.set_gradients(step);
      far.optimizer->step({.lr = 0.1, .refused = at::zeros({1}, at::kFloat).to(device)});
      continue;
    }
    for (const auto& [name, tensor] : far.parameters)
      tensor.mutable_grad() = at::full_like(tensor, std::numeric_limits<double>::quiet_NaN());
    const auto parameters = copies(far.parameters), state = copies(far.optimizer->state());
    far.optimizer->step(refused);
    expect_equal(far.parameters, parameters);  // the next forward pass begins
    far.optimizer->was_refused();
    expect_equal(far.optimizer->state(), state);
  }
}

TEST_P(RefusedSteps, LeaveTheOthersAsTheCpuMakesThem) {
  const auto device = test::simulated_device();
  auto near = steps_on(at::kCPU, GetParam()), far = steps_on(device, GetParam());
  for (std::size_t step = 0; step < kSteps; ++step) {
    far.set_gradients(step);
    const auto flag = at::full({1}, is_refused(step) ? 1 : 0, at::kFloat).to(device);
    far.optimizer->step({.lr = 0.1, .refused = flag});
    if (is_refused(step)) {
      far.optimizer->was_refused();
      continue;
    }
    near.set_gradients(step);
    near.optimizer->step({.lr = 0.1});
  }
  const auto state = near.optimizer->state(), state_far = far.optimizer->state();
  ASSERT_EQ(state.size(), state_far.size());
  const auto alike = [](const NamedTensor& a, const NamedTensor& b) {
    return a.name == b.name && at::allclose(a.tensor.detach().cpu().to(at::kDouble),
                                            b.tensor.detach().to(at::kDouble), 1e-12, 1e-14);
  };
  for (std::size_t i = 0; i < near.parameters.size(); ++i)
    EXPECT_TRUE(alike(far.parameters[i], near.parameters[i])) << i;
  for (std::size_t i = 0; i < state.size(); ++i)
    EXPECT_TRUE(alike(state_far[i], state[i])) << state[i].name;
}

TEST_P(RefusedSteps, AreNotWaitedFor) {
  const auto device = test::simulated_device();
  auto far = steps_on(device, GetParam());
  const auto flag = at::zeros({1}, at::kFloat).to(device);
  for (std::size_t step = 0; step < kSteps; ++step) {
    far.set_gradients(step);
    simulated::reset();
    far.optimizer->step({.lr = 0.1, .refused = flag});
    const auto counts = simulated::counts();
    EXPECT_EQ(counts.waited(), 0) << counts.waits.begin()->first;
    EXPECT_EQ(counts.to_host + counts.from_pageable + counts.from_pinned, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, RefusedSteps, testing::ValuesIn(refusing_optimizers()),
                         [](const auto& given) {
                           return given.param["type"].template get<std::string>() + "_" +
                                  std::to_string(given.index);
                         });

}  // namespace
}  // namespace ddptrain
