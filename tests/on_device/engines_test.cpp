// Engines on devices give the gradients of the CPU, and wait and copy no more than is known.
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distributed/compare.h"
#include "distributed/conv_net.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::HasSubstr;

Tensors on_the_host(Tensors tensors) {
  for (auto& tensor : tensors)
    if (tensor.defined()) tensor = tensor.cpu();
  return tensors;
}

const std::vector<Batch>& batches() {
  static const std::vector<Batch> uneven{samples(7, "a"), samples(3, "b"), samples(1, "c")};
  return uneven;
}

EngineOptions on_devices(std::vector<std::int64_t> ids = {}) {
  auto options = in_double();
  options.device = simulated_device();
  options.device_ids = std::move(ids);
  return options;
}

TEST(EnginesOnADevice, AreTheCpus) {
  const auto expected = by_single(factory(), batches());
  expect_same(on_the_host(by_single(factory(), batches(), on_devices())), expected);
  expect_same(on_the_host(by_dp(factory(), batches(), on_devices({0, 1}), 2)), expected);
}

// Some of their windows leave a rank without rows, or a parameter without a gradient on one of two.
TEST(EnginesOnADevice, OfRanksAreTheCpus) {
  expect_same(on_the_host(by_ddp(factory(), batches(), on_devices(), 2)),
              by_single(factory(), batches()));
  auto options = on_devices();
  options.find_unused_parameters = true;
  const auto spare = factory({true, false, true});
  expect_same(on_the_host(by_ddp(spare, batches(), options, 2)), by_single(spare, batches()));
}

TEST(EnginesOnADevice, NameUnusedParametersOnAllRanks) {
  for (const std::int64_t step : {0, 1}) {  // used by no rank, and by rank 0 alone
    const auto thrown = play(make_thread_worlds(2), [&](World& world) {
      const auto engine = make_ddp_engine(factory({true, false, true}), on_devices(), world);
      MicroStep at;
      at.step = step;
      const auto numbers = sum_window(*engine, samples(4), {1, world.rank, 2}, at);
      engine->totals(numbers.cpu());
    });
    for (const auto& error : thrown)
      EXPECT_THAT(message_of(error), HasSubstr("no gradient on some rank: 'spare'"));
  }
}

TEST(EnginesOnADevice, SynchronizeBatchNormOverTwo) {
  const std::vector<Batch> images{samples(8, "a", {2, 4, 4}), samples(7, "b", {2, 4, 4})};
  auto options = on_devices({0, 1});
  options.sync_bn = true;
  expect_same(on_the_host(by_dp(conv_net(), images, options, 2)), by_single(conv_net(), images));
}

/// Residual blocks, some of them with a shortcut that has a batch norm of its own.
std::unique_ptr<Model> residual_net() {
  ModelContext context;
  context.data.classes.resize(3);
  context.data.sample = {3, 16, 16};
  context.generator = at::make_generator<at::CPUGeneratorImpl>(5);
  return make_model({{"type", "xresnet18"}, {"stem", {4, 4, 8}}, {"widen", 0.125}}, context);
}

// Of seven and of six images, so that a rank has more than the other.
TEST(EnginesOnADevice, SynchronizeBatchNormOverTwoRanksAsTheCpu) {
  const std::vector<Batch> images{samples(7, "a", {3, 16, 16}), samples(6, "b", {3, 16, 16})};
  auto near = in_double(), far = on_devices();
  near.sync_bn = far.sync_bn = true;
  const auto expected = by_ddp(residual_net, images, near, 2);
  const auto found = on_the_host(by_ddp(residual_net, images, far, 2));
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(largest_difference(found[i], expected[i]),
              1e-12 * (1 + expected[i].abs().max().item<double>()))
        << i;
}

// Its numbers stay there; the inputs and the targets are brought.
TEST(EnginesOnADevice, NeverWaitAndBringEveryTensorOnce) {
  const auto engine = make_single_engine(factory(), on_devices());
  run_window(*engine, samples(8), {}, {});
  simulated::reset();
  const auto numbers = sum_window(*engine, samples(8), {}, {});
  const auto counts = simulated::counts();
  EXPECT_EQ(counts.waited(), 0) << counts.waits.begin()->first;
  // The test's loss has weights of its own, the test's net a mask.
  EXPECT_LE(counts.from_pageable, 4);
  EXPECT_GT(engine->totals(numbers.cpu()).weight, 0);
}

// Kernels read aligned memory at full width; one broadcast sends all buffers.
TEST(EnginesOnADevice, AlignGradientsAndBuffersInFlatTensors) {
  auto world = single_world();
  const auto engine = make_ddp_engine(conv_net(), on_devices(), world);
  run_window(*engine, samples(4, "a", {2, 4, 4}), {}, {});
  const auto is_aligned = [](const at::Tensor& tensor) {
    return tensor.storage_offset() * tensor.element_size() % 256 == 0;
  };
  for (const auto& [name, parameter] : engine->model().named_parameters())
    EXPECT_TRUE(is_aligned(parameter.grad())) << name;
  const auto buffers = engine->model().named_buffers();
  ASSERT_GE(buffers.size(), 3U);
  for (const auto& [name, buffer] : buffers) {
    EXPECT_TRUE(is_aligned(buffer)) << name;
    EXPECT_TRUE(buffer.is_alias_of(buffers.front().tensor)) << name;
  }
}

TEST(EnginesOnADevice, WaitOnceToSeeWhetherGradientsAreFinite) {
  std::vector<at::Tensor> gradients;
  for (const auto size : {3, 5, 2}) gradients.push_back(at::ones({size}).to(simulated_device()));
  simulated::reset();
  EXPECT_TRUE(all_finite(gradients));
  EXPECT_EQ(simulated::counts().waited(), 1);
}

}  // namespace
}  // namespace ddptrain
