// By hand: p <- p - lr * v, v <- momentum * v + g.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "optim/parameters.h"

namespace ddptrain::testing_optim {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(Sgd, PlainStepFollowsTheGradient) {
  const auto p = parameter("p", {1, 2});
  const auto sgd = build({{"type", "sgd"}, {"lr", 0.5}}, {group({p})});
  set_gradient(p, {2, -4});
  step(*sgd);
  EXPECT_THAT(values(p.tensor), ElementsAre(0, 4));
  EXPECT_TRUE(sgd->state().empty());
}

TEST(Sgd, MomentumAddsUp) {
  const auto p = parameter("p", {0});
  const auto sgd = build({{"type", "sgd"}, {"lr", 1}, {"momentum", 0.5}}, {group({p})});
  set_gradient(p, {1});
  step(*sgd);  // v = 1
  step(*sgd);  // v = 1.5
  EXPECT_THAT(values(p.tensor), ElementsAre(-2.5));
}

TEST(Sgd, TheFirstGradientIsNotDampened) {
  const auto p = parameter("p", {0});
  const auto sgd =
      build({{"type", "sgd"}, {"lr", 1}, {"momentum", 0.5}, {"dampening", 0.5}}, {group({p})});
  set_gradient(p, {1});
  step(*sgd);  // v = 1
  step(*sgd);  // v = 0.5 + 0.5
  EXPECT_THAT(values(p.tensor), ElementsAre(-2));
}

TEST(Sgd, NesterovLooksAhead) {
  const auto p = parameter("p", {0});
  const auto sgd =
      build({{"type", "sgd"}, {"lr", 1}, {"momentum", 0.5}, {"nesterov", true}}, {group({p})});
  set_gradient(p, {1});
  step(*sgd);  // g + 0.5 v = 1.5
  EXPECT_THAT(values(p.tensor), ElementsAre(-1.5));
}

TEST(Sgd, DecoupledDecayShrinksTheWeightsAlone) {
  const auto p = parameter("p", {10});
  const auto sgd = build({{"type", "sgd"},
                          {"lr", 0.5},
                          {"momentum", 0.5},
                          {"weight_decay", 0.2},
                          {"decoupled_weight_decay", true}},
                         {group({p})});
  set_gradient(p, {2});
  step(*sgd);
  EXPECT_THAT(values(p.tensor), ElementsAre(DoubleEq(10 * 0.9 - 1)));
  EXPECT_THAT(values(sgd->state().at(0).tensor), ElementsAre(2));
}

TEST(Sgd, MaximizeClimbs) {
  const auto p = parameter("p", {0});
  const auto sgd = build({{"type", "sgd"}, {"lr", 1}, {"maximize", true}}, {group({p})});
  set_gradient(p, {3});
  step(*sgd);
  EXPECT_THAT(values(p.tensor), ElementsAre(3));
}

TEST(Sgd, ACycledMomentumReplacesItsOwn) {
  const auto p = parameter("p", {0});
  const auto sgd = build({{"type", "sgd"}, {"lr", 1}, {"momentum", 0.5}}, {group({p})});
  set_gradient(p, {1});
  sgd->step({1, 0.5});
  sgd->step({1, 0.25});  // v = 0.25 + 1
  EXPECT_THAT(values(p.tensor), ElementsAre(-2.25));
}

TEST(Sgd, HasMomentumToCycleOnlyWhereItIsUsed) {
  EXPECT_EQ(build({{"type", "sgd"}}, {})->momentum(), std::nullopt);
  EXPECT_EQ(build({{"type", "sgd"}, {"momentum", 0.9}}, {})->momentum(), 0.9);
}

}  // namespace
}  // namespace ddptrain::testing_optim
