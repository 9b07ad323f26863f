#include <ATen/ops/eye.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "optim/optimizer.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;

NamedTensor parameter(const std::string& name, const at::Tensor& value) {
  return {name, value.clone().set_requires_grad(true)};
}

std::vector<NamedTensor> fresh() {
  return {parameter("matrix", at::eye(2)), parameter("bias", at::tensor({1.0F, 2.0F}))};
}

std::unique_ptr<Optimizer> build(const std::vector<NamedTensor>& parameters) {
  const json recipe = {{"type", "muon"},
                       {"lr", 0.1},
                       {"weight_decay", 0},
                       {"others", {{"type", "sgd"}, {"lr", 1}, {"momentum", 0.5}}}};
  ParameterGroup group;
  group.parameters = parameters;
  return catalog<Optimizer>().build(fragment<Optimizer>(recipe),
                                    std::vector<ParameterGroup>{group});
}

void train(Optimizer& optimizer, const std::vector<NamedTensor>& parameters, int from, int to) {
  for (int t = from; t < to; ++t) {
    const auto x = static_cast<float>(t + 1);
    parameters[0].tensor.mutable_grad() = at::tensor({3 * x, 0.0F, 0.0F, -4.0F}).view({2, 2});
    parameters[1].tensor.mutable_grad() = at::tensor({x, -x});
    optimizer.step({0.05, {}});
  }
}

// Of diag(3, -4) the nearest orthogonal matrix is diag(1, -1); the iteration gives 0.5 to 1.5 of
// it.
TEST(Muon, StepsAlongTheNearestOrthogonalMatrix) {
  const auto parameters = fresh();
  const auto optimizer = build(parameters);
  train(*optimizer, parameters, 0, 1);
  const auto step = at::eye(2).sub(parameters[0].tensor.detach()).div(0.05);
  EXPECT_EQ(step[0][1].item<float>(), 0);
  EXPECT_EQ(step[1][0].item<float>(), 0);
  EXPECT_NEAR(step[0][0].item<float>(), 1, 0.5);
  EXPECT_NEAR(step[1][1].item<float>(), -1, 0.5);
}

// Its rate is 1 where muon's is 0.1, so at 0.05 it is a half.
TEST(Muon, LeavesTheRestToAnotherOptimizerAtTheSameShareOfItsRate) {
  const auto parameters = fresh();
  const auto optimizer = build(parameters);
  train(*optimizer, parameters, 0, 1);
  EXPECT_TRUE(parameters[1].tensor.detach().allclose(at::tensor({0.5F, 2.5F})));
}

TEST(Muon, GoesOnFromItsState) {
  const auto whole = fresh(), cut = fresh();
  const auto one = build(whole);
  train(*one, whole, 0, 4);
  auto first = build(cut);
  train(*first, cut, 0, 2);
  const auto second = build(cut);
  second->load(first->state());
  train(*second, cut, 2, 4);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_TRUE(whole[i].tensor.equal(cut[i].tensor)) << whole[i].name;
}

TEST(Muon, RefusesAModelWithoutAMatrix) {
  EXPECT_THAT([] { build({fresh()[1]}); },
              testing::ThrowsMessage<Error>(
                  "optimizer: muon: the model has no matrix; another one is needed"));
}

}  // namespace
}  // namespace ddptrain
