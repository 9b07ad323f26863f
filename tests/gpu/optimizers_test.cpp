// A few steps of every optimizer of the catalog with the same gradients.
#include "optim/optimizer.h"

#include <ATen/ops/full_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <limits>

#include "gpu/device.h"
#include "models/nets.h"
#include "optim/state_stream.h"

namespace ddptrain::gpu {
namespace {

using nlohmann::json;

/// Matrices, which muon takes, and for the others a vector too.
std::vector<std::vector<std::int64_t>> shapes_for(const std::string& name) {
  if (name == "muon") return {{6, 4}, {3, 5}};
  return {{6, 4}, {7}, {2, 3, 2, 2}};
}

/// A step that its device refuses, since gradients are no numbers.
void make_refused_step(Optimizer& optimizer, const std::vector<NamedTensor>& parameters) {
  for (const auto& [unused, tensor] : parameters)
    tensor.mutable_grad() = at::full_like(tensor, std::numeric_limits<double>::quiet_NaN());
  const auto refused =
      at::ones({1}, parameters[0].tensor.options().dtype(at::kFloat).requires_grad(false));
  optimizer.step({.lr = optimizer.lr(), .refused = refused});
  optimizer.was_refused();
}

enum class Between { nothing, refused_steps };

std::vector<at::Tensor> trained_on(const std::string& name, c10::Device where, at::ScalarType type,
                                   Between between = Between::nothing) {
  const auto random = test::seeded(13);
  ParameterGroup group;
  for (const auto& shape : shapes_for(name))
    group.parameters.push_back(
        {"p" + std::to_string(group.parameters.size()),
         at::randn(shape, random, at::kDouble).to(where, type).set_requires_grad(true)});
  json recipe{{"type", name}};
  if (name == "lookahead") recipe["inner"] = "adamw";
  const auto parameters = group.parameters;
  const auto optimizer =
      catalog<Optimizer>().build(fragment<Optimizer>(recipe), std::vector{group});
  for (int step = 0; step < 7; ++step) {
    if (between == Between::refused_steps) make_refused_step(*optimizer, parameters);
    for (const auto& [unused, tensor] : parameters)
      tensor.mutable_grad() = at::randn(tensor.sizes(), random, at::kDouble).to(where, type);
    optimizer->step({optimizer->lr(), {}});
  }
  std::vector<at::Tensor> values;
  for (const auto& [unused, tensor] : parameters) values.push_back(tensor.detach());
  return values;
}

std::vector<std::string> optimizers() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < catalog<Optimizer>().size(); ++i)
    names.push_back(catalog<Optimizer>().at(i).name);
  return names;
}

class EveryOptimizerOnADevice : public testing::TestWithParam<std::string> {
 protected:
  static void expect_the_parameters_of_the_cpu(const Tolerance& tolerance) {
    const auto near = trained_on(GetParam(), at::kCPU, tolerance.type);
    const auto far = trained_on(GetParam(), device(), tolerance.type);
    for (std::size_t i = 0; i < near.size(); ++i) {
      EXPECT_EQ(far[i].device(), device());
      EXPECT_LE(relative_distance(far[i], near[i]), tolerance.distance) << "parameter " << i;
    }
  }
};

// Muon's iteration of Newton and Schulz runs in bfloat16, whatever the parameters are.
TEST_P(EveryOptimizerOnADevice, StepsAsTheCpuInDoublePrecision) {
  expect_the_parameters_of_the_cpu({at::kDouble, GetParam() == "muon" ? 1e-3 : 1e-12});
}
TEST_P(EveryOptimizerOnADevice, StepsAsTheCpuInSinglePrecision) {
  expect_the_parameters_of_the_cpu({at::kFloat, GetParam() == "muon" ? 1e-3 : 1e-5});
}

TEST_P(EveryOptimizerOnADevice, LeavesOutWhatItsDeviceRefuses) {
  const auto expected = trained_on(GetParam(), device(), at::kDouble);
  const auto values = trained_on(GetParam(), device(), at::kDouble, Between::refused_steps);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(values[i].cpu().equal(expected[i].cpu())) << "parameter " << i;
}

// Of 5 million numbers, in chunks of 1 MiB.
TEST(OffloadedAdam, MakesTheSameStepsOnADevice) {
  const auto after = [](bool offloads) {
    const auto random = test::seeded(13);
    const auto memory = [](std::int64_t bytes) { return tested().host_memory(bytes); };
    StateStream stream(device(), memory, {.buffer_bytes = 1 << 20});
    ParameterGroup group;
    for (const std::int64_t rows : {4000, 7, 1000})
      group.parameters.push_back(
          {"p" + std::to_string(rows),
           at::randn({rows, 1000}, random).to(device()).set_requires_grad(true)});
    const auto parameters = group.parameters;
    const auto adam = catalog<Optimizer>().build(fragment<Optimizer>("adamw"), std::vector{group});
    if (offloads) {
      EXPECT_TRUE(adam->offload(stream));
    }
    for (int step = 0; step < 5; ++step) {
      for (const auto& [unused, tensor] : parameters)
        tensor.mutable_grad() = at::randn(tensor.sizes(), random).to(device());
      adam->step({adam->lr(), {}});
    }
    auto all = adam->state();
    all.insert(all.end(), parameters.begin(), parameters.end());
    std::vector<at::Tensor> values;
    for (const auto& [unused, tensor] : all) values.push_back(tensor.detach().cpu().clone());
    return values;
  };
  const auto expected = after(false), found = after(true);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryOptimizerOnADevice, testing::ValuesIn(optimizers()),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace ddptrain::gpu
