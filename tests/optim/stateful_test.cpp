// What holds for every optimizer of the catalog.
#include "optim/stateful.h"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "optim/every_optimizer.h"
#include "optim/parameters.h"

namespace ddptrain::testing_optim {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

std::vector<NamedTensor> copies(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> made;
  for (const auto& [name, tensor] : tensors) made.push_back({name, tensor.detach().clone()});
  return made;
}

class EveryOptimizer : public testing::TestWithParam<nlohmann::json> {
 protected:
  static std::vector<NamedTensor> fresh() {
    return {parameter("a", {1, 2, 3}), parameter("b", {-1, 0.5})};
  }
  static void set_gradients(const std::vector<NamedTensor>& parameters, int t) {
    set_gradient(parameters[0], {std::sin(t), std::cos(t), 0.3 * t});
    set_gradient(parameters[1], {std::cos(2 * t), 1.0 / (1 + t)});
  }
  static void train(Optimizer& optimizer, const std::vector<NamedTensor>& parameters, int from,
                    int to) {
    for (int t = from; t < to; ++t) {
      set_gradients(parameters, t);
      step(optimizer);
    }
  }
};

TEST_P(EveryOptimizer, IsInTheList) {
  EXPECT_NE(catalog<Optimizer>().find(GetParam()["type"].get<std::string>()), nullptr);
}

TEST_P(EveryOptimizer, GoesOnFromItsStateBitForBit) {
  const auto whole = fresh();
  const auto uninterrupted = build(GetParam(), {group(whole)});
  train(*uninterrupted, whole, 0, 4);
  const auto saved = copies(uninterrupted->state());
  std::vector<NamedTensor> resumed;
  for (const auto& [name, tensor] : whole)
    resumed.push_back({name, tensor.detach().clone().set_requires_grad(true)});
  train(*uninterrupted, whole, 4, 9);

  const auto other = build(GetParam(), {group(resumed)});
  other->load(saved);
  EXPECT_EQ(names_of(other->state()), names_of(saved));
  train(*other, resumed, 4, 9);
  for (std::size_t k = 0; k < whole.size(); ++k)
    EXPECT_TRUE(whole[k].tensor.equal(resumed[k].tensor)) << whole[k].name;
}

TEST_P(EveryOptimizer, DecaysByTheShareOfItsOwnThatIsSaid) {
  const auto decaying = [](double decay) {
    auto recipe = GetParam();
    (recipe.contains("inner") ? recipe["inner"] : recipe)["weight_decay"] = decay;
    return recipe;
  };
  const auto moved = [](const nlohmann::json& recipe, double share) {
    const auto parameters = fresh();
    const auto optimizer = build(recipe, {group(parameters)});
    for (int t = 0; t < 5; ++t) {
      set_gradients(parameters, t);
      Rates rates{optimizer->lr()};
      rates.decay_share = share;
      optimizer->step(rates);
    }
    return copies(parameters);
  };
  const auto wanted = moved(decaying(0.125), 1), halved = moved(decaying(0.25), 0.5);
  const auto whole = moved(decaying(0.25), 1);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    EXPECT_TRUE(halved[k].tensor.equal(wanted[k].tensor)) << wanted[k].name;
    EXPECT_FALSE(whole[k].tensor.equal(wanted[k].tensor)) << wanted[k].name;
  }
}

TEST_P(EveryOptimizer, KnowsTheSizeOfItsStateBeforeTheFirstStep) {
  const auto parameters = fresh();
  const auto optimizer = build(GetParam(), {group(parameters)});
  const auto before = optimizer->state_bytes();
  train(*optimizer, parameters, 0, 1);
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : optimizer->state())
    bytes += static_cast<std::int64_t>(tensor.nbytes());
  EXPECT_EQ(before, bytes);
  EXPECT_EQ(optimizer->state_bytes(), bytes);
}

TEST_P(EveryOptimizer, RefusesStateOfAnotherShape) {
  const auto parameters = fresh();
  const auto optimizer = build(GetParam(), {group(parameters)});
  train(*optimizer, parameters, 0, 1);
  auto state = copies(optimizer->state());
  for (auto& [name, tensor] : state)
    if (tensor.dim() == 1) tensor = at::ones({7});
  const auto other = build(GetParam(), {group(fresh())});
  EXPECT_THAT(
      [&] { other->load(state); },
      ThrowsMessage<Error>(testing::AnyOf(
          testing::MatchesRegex(
              "optimizer state 'a\\.[a-z_]+' has shape \\[7\\], parameter 'a' wants \\[3\\]"),
          "optimizer state 'a.slow_weights' has shape [7], its parameter has [3]")));
}

TEST_P(EveryOptimizer, RefusesStateOfAnotherParameter) {
  const auto optimizer = build(GetParam(), {group(fresh())});
  EXPECT_THAT(
      [&] {
        optimizer->load({{"fc.exp_avg", at::ones({2})}});
      },
      ThrowsMessage<Error>(
          "optimizer state 'fc.exp_avg' belongs to no parameter, or to another optimizer"));
}

TEST_P(EveryOptimizer, RefusesHalfOfAState) {
  const auto parameters = fresh();
  const auto optimizer = build(GetParam(), {group(parameters)});
  train(*optimizer, parameters, 0, 1);
  auto state = copies(optimizer->state());
  if (state.size() < 4) return;  // one tensor per parameter has no half
  state.erase(state.begin());
  EXPECT_THAT([&] { build(GetParam(), {group(fresh())})->load(state); },
              ThrowsMessage<Error>("optimizer state 'a.step' is missing"));
}

TEST_P(EveryOptimizer, WorksWithGradientsOfOtherStrides) {
  const auto row = parameter("w", {1, 2, 3, 4, 5, 6});
  const NamedTensor one{"w", row.tensor.detach().clone().view({2, 3}).set_requires_grad(true)};
  const NamedTensor other{"w", row.tensor.detach().clone().view({2, 3}).set_requires_grad(true)};
  const auto gradient = doubles({1, -2, 3, 2, 5, -1}).view({2, 3});
  one.tensor.mutable_grad() = gradient.clone();
  other.tensor.mutable_grad() = gradient.t().contiguous().t();
  step(*build(GetParam(), {group({one})}));
  step(*build(GetParam(), {group({other})}));
  EXPECT_TRUE(one.tensor.equal(other.tensor));
}

TEST_P(EveryOptimizer, LeavesParametersWithoutGradientAlone) {
  const auto parameters = fresh();
  const auto optimizer = build(GetParam(), {group(parameters)});
  set_gradient(parameters[0], {1, 1, 1});
  for (int t = 0; t < 6; ++t) step(*optimizer);
  EXPECT_THAT(values(parameters[1].tensor), ElementsAre(-1, 0.5));
}

TEST_P(EveryOptimizer, AppliesTheMultipliersOfGroups) {
  const auto parameters = fresh();
  auto still = group({parameters[1]});
  still.lr_scale = 0;
  const auto optimizer = build(GetParam(), {group({parameters[0]}), still});
  train(*optimizer, parameters, 0, 3);
  EXPECT_THAT(values(parameters[1].tensor), ElementsAre(-1, 0.5));
  EXPECT_NE(values(parameters[0].tensor), (std::vector<double>{1, 2, 3}));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, EveryOptimizer, testing::ValuesIn(every_optimizer()),
                         [](const auto& param) {
                           return param.param["type"].template get<std::string>();
                         });

TEST(Stateful, EveryOptimizerOfTheCatalogIsTriedHere) {
  EXPECT_EQ(every_optimizer().size() + 1, catalog<Optimizer>().size());  // muon wants a matrix
}

TEST(Stateful, StateHasTorchsNamesInAFixedOrder) {
  const std::vector<NamedTensor> parameters{parameter("a", {1}), parameter("b", {1})};
  const auto adam = build({{"type", "adam"}}, {group(parameters)});
  EXPECT_TRUE(adam->state().empty());
  set_gradient(parameters[1], {1});
  step(*adam);
  EXPECT_THAT(names_of(adam->state()), ElementsAre("b.step", "b.exp_avg", "b.exp_avg_sq"));
  set_gradient(parameters[0], {1});
  step(*adam);
  EXPECT_THAT(names_of(adam->state()), ElementsAre("a.step", "a.exp_avg", "a.exp_avg_sq", "b.step",
                                                   "b.exp_avg", "b.exp_avg_sq"));
}

TEST(Stateful, CountsTheStepsOfEachParameter) {
  const std::vector<NamedTensor> parameters{parameter("a", {1}), parameter("b", {1})};
  const auto adam = build({{"type", "adam"}}, {group(parameters)});
  set_gradient(parameters[0], {1});
  step(*adam);
  set_gradient(parameters[1], {1});
  step(*adam);
  EXPECT_THAT(values(adam->state()[0].tensor), ElementsAre(2));
  EXPECT_THAT(values(adam->state()[3].tensor), ElementsAre(1));
}

TEST(Stateful, SaysBothShapes) {
  const auto p = parameter("p", {1, 2, 3});
  const auto sgd = build({{"type", "sgd"}, {"momentum", 0.9}}, {group({p})});
  EXPECT_THAT(
      [&] {
        sgd->load({{"p.momentum_buffer", at::ones({4})}});
      },
      ThrowsMessage<Error>("optimizer state 'p.momentum_buffer' has shape [4], parameter "
                           "'p' wants [3]"));
}

TEST(CommonOptions, AreTheInnermostOnes) {
  const auto choice = fragment<Optimizer>(
      {{"type", "lookahead"},
       {"inner", {{"type", "adam"}, {"no_decay", {"bias"}}, {"lr_batch", 256}}}});
  const auto common = common_options(choice);
  EXPECT_THAT(common.no_decay, ElementsAre("bias"));
  EXPECT_EQ(common.lr_batch, 256);
}

}  // namespace
}  // namespace ddptrain::testing_optim
