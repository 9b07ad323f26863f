// Optimizers whose state is in the host's memory: the same bits, no wait in a step, and two buffers
// in place of the state.
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "models/nets.h"
#include "optim/every_optimizer.h"
#include "optim/parameters.h"
#include "optim/state_stream.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing_optim::build;

constexpr std::size_t kOffloadedSteps = 6;

/// Those that look ahead are refused by a rule.
std::vector<json> offloaded_optimizers() {
  auto all = testing_optim::every_optimizer();
  std::erase_if(all, [](const json& each) {
    return each["type"] == "lookahead" || each["type"] == "ranger";
  });
  all.push_back({{"type", "muon"}, {"lr", 0.1}});
  return all;
}

bool looks_at_all(const json& recipe) {
  return catalog<Optimizer>().find(recipe["type"].get<std::string>())->has("whole_parameters");
}

std::unique_ptr<StateStream> stream_with(const StreamOptions& options) {
  return std::make_unique<StateStream>(
      test::simulated_device(),
      [](std::int64_t bytes) { return test::simulated_accelerator().host_memory(bytes); }, options);
}

/// Parameters, and an optimizer of two groups of them that offloads its state or does not.
struct Offloading {
  std::unique_ptr<StateStream> stream;  // null: it does not
  std::vector<NamedTensor> parameters;
  std::unique_ptr<Optimizer> optimizer;

  Offloading(const json& recipe, bool offloads) {
    const auto random = test::seeded(5);
    const std::vector<std::vector<std::int64_t>> shapes{{60, 40},     {7}, {0},
                                                        {2, 3, 2, 2}, {},  {900}};
    for (const auto& shape : shapes)
      parameters.push_back(
          {"p" + std::to_string(parameters.size()), at::randn(shape, random, at::kFloat)
                                                        .to(test::simulated_device())
                                                        .set_requires_grad(true)});
    const std::vector<NamedTensor> first(parameters.begin(), parameters.begin() + 3),
        second(parameters.begin() + 3, parameters.end());
    auto groups = std::vector{testing_optim::group(first), testing_optim::group(second)};
    groups[1].decay_scale = 0;
    optimizer = build(recipe, std::move(groups));
    if (!offloads) return;
    stream = stream_with({.buffer_bytes = 4096, .divides_parameters = !looks_at_all(recipe)});
    EXPECT_TRUE(optimizer->offload(*stream));
  }

  /// The last parameter has none in the first step.
  void set_gradients(std::size_t step) {
    const auto random = test::seeded(static_cast<int>(step));
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto& tensor = parameters[i].tensor;
      const auto gradient = at::randn(tensor.sizes(), random, at::kFloat).to(tensor.device());
      tensor.mutable_grad() = step == 0 && i == 5 ? at::Tensor() : gradient;
    }
  }

  void step(std::size_t number, bool refused = false) {
    set_gradients(number);
    const auto flag = at::full({1}, refused ? 1 : 0, at::kFloat).to(test::simulated_device());
    optimizer->step({.lr = 0.1, .refused = flag});
    if (refused) optimizer->was_refused();
  }
};

void expect_same_tensors(const std::vector<NamedTensor>& found,
                         const std::vector<NamedTensor>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_TRUE(at::equal(found[i].tensor.detach().cpu(), expected[i].tensor.detach().cpu()))
        << found[i].name;
  }
}

std::vector<NamedTensor> copies_of(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : tensors) copies.push_back({name, tensor.cpu().clone()});
  return copies;
}

class OffloadedState : public testing::TestWithParam<json> {};

TEST_P(OffloadedState, MakesTheSameSteps) {
  Offloading near(GetParam(), false), far(GetParam(), true);
  for (std::size_t step = 0; step < kOffloadedSteps; ++step) {
    near.step(step, step == 3);
    far.step(step, step == 3);
    expect_same_tensors(far.parameters, near.parameters);
  }
  expect_same_tensors(far.optimizer->state(), near.optimizer->state());
  EXPECT_EQ(far.optimizer->state_bytes(), near.optimizer->state_bytes());
  for (const auto& [name, tensor] : far.optimizer->state()) EXPECT_TRUE(tensor.is_cpu()) << name;
}

TEST_P(OffloadedState, GoesOnWithStateThatWasNotOffloadedAndTheOtherWayRound) {
  for (const bool offloads : {false, true}) {
    Offloading all(GetParam(), offloads), first(GetParam(), offloads), then(GetParam(), !offloads);
    for (std::size_t step = 0; step < kOffloadedSteps; ++step) {
      all.step(step);
      if (step < 3) first.step(step);
      if (step == 2) {
        for (std::size_t i = 0; i < first.parameters.size(); ++i)
          then.parameters[i].tensor.detach().copy_(first.parameters[i].tensor.detach());
        then.optimizer->load(copies_of(first.optimizer->state()));
      }
      if (step >= 3) then.step(step);
    }
    expect_same_tensors(then.parameters, all.parameters);
    expect_same_tensors(then.optimizer->state(), all.optimizer->state());
  }
}

TEST_P(OffloadedState, IsNotWaitedForInAStep) {
  Offloading far(GetParam(), true);
  for (std::size_t step = 0; step < kOffloadedSteps; ++step) {
    far.set_gradients(step);
    const auto flag = at::full({1}, 0, at::kFloat).to(test::simulated_device());
    simulated::reset();
    far.optimizer->step({.lr = 0.1, .refused = flag});
    const auto counts = simulated::counts();
    EXPECT_EQ(counts.waited(), 0) << counts.waits.begin()->first;
    EXPECT_EQ(counts.from_pageable, 0);
    EXPECT_EQ(counts.freed_in_use, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, OffloadedState, testing::ValuesIn(offloaded_optimizers()),
                         [](const auto& given) {
                           return given.param["type"].template get<std::string>();
                         });

TEST(StateStream, HasBuffersForHalfOfTheStateThatAreBounded) {
  const auto of = [](std::int64_t all, std::int64_t largest) {
    const auto stream = stream_with({.buffer_bytes = 1024});
    stream->expect(all, largest);
    return stream->buffer_bytes();
  };
  EXPECT_EQ(of(1000, 1), 512);
  EXPECT_EQ(of(100000, 1), 1024);
  EXPECT_EQ(of(100000, 5000), 5000);
}

// 2000 numbers with two of state each, in chunks of 1000 bytes: two buffers on the device, and what
// the step makes.
TEST(StateStream, TakesTheMemoryOfItsBuffers) {
  const auto& device = test::simulated_accelerator();
  const auto peak_of = [&](bool offloads) {
    Offloading made({{"type", "adam"}, {"lr", 0.1}}, offloads);
    made.set_gradients(1);
    device.empty_cache();
    device.reset_peak_memory(0);
    const auto before = device.memory(0).reserved;
    made.optimizer->step({.lr = 0.1});
    if (offloads) {
      EXPECT_EQ(made.stream->buffer_bytes(), 4096);
    }
    return device.memory(0).peak_reserved - before;
  };
  constexpr std::int64_t kPages = 4096;  // of each tensor there
  EXPECT_GE(peak_of(false), 2 * 4 * (60 * 40 + 900));
  EXPECT_LE(peak_of(true), 2 * kPages + 8 * kPages);
}

}  // namespace
}  // namespace ddptrain
