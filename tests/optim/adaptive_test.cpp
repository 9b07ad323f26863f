// One step by hand for each optimizer that scales its steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "optim/optimizers/radam.h"
#include "optim/parameters.h"

namespace ddptrain::testing_optim {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

double after_one_step(const nlohmann::json& recipe, double start, double gradient) {
  const auto p = parameter("p", {start});
  const auto optimizer = build(recipe, {group({p})});
  set_gradient(p, {gradient});
  step(*optimizer);
  return values(p.tensor)[0];
}

// The debiased means after one step are g and g squared, so the step is lr * sign(g).
TEST(Adam, TheFirstStepHasTheLengthOfTheRate) {
  EXPECT_NEAR(after_one_step({{"type", "adam"}, {"lr", 0.1}, {"eps", 0}}, 1, 5), 0.9, 1e-12);
  EXPECT_NEAR(after_one_step({{"type", "adam"}, {"lr", 0.1}, {"eps", 0}}, 1, -0.01), 1.1, 1e-12);
}

TEST(Adamw, DecaysTheWeightAndThenSteps) {
  const nlohmann::json recipe{{"type", "adamw"}, {"lr", 0.1}, {"eps", 0}, {"weight_decay", 0.5}};
  EXPECT_NEAR(after_one_step(recipe, 2, 5), 2 * 0.95 - 0.1, 1e-12);
}

TEST(Adamw, DecaysByTorchsHundredthUnlessTold) {
  EXPECT_NEAR(after_one_step({{"type", "adamw"}, {"lr", 0.1}, {"eps", 0}}, 2, 5),
              2 * (1 - 0.1 * 0.01) - 0.1, 1e-12);
}

// The mean square after one step is 0.01 g squared, so the step is 10 lr.
TEST(Rmsprop, DividesByTheRootOfTheMeanSquare) {
  EXPECT_NEAR(after_one_step({{"type", "rmsprop"}, {"lr", 0.1}, {"eps", 0}}, 0, 3), -1, 1e-12);
}

// Variance of a first gradient around its mean 0.01 g: 0.01 g^2 - 0.0001 g^2.
TEST(Rmsprop, CenteredDividesByTheDeviation) {
  const nlohmann::json recipe{{"type", "rmsprop"}, {"lr", 1}, {"eps", 0}, {"centered", true}};
  EXPECT_NEAR(after_one_step(recipe, 0, 2), -1 / std::sqrt(0.0099), 1e-9);
}

TEST(Radam, StartsAsPlainMomentum) {
  EXPECT_NEAR(after_one_step({{"type", "radam"}, {"lr", 0.1}}, 0, 3), -0.3, 1e-12);
}

// rho_inf = 1999, rho_6 = 1999 - 12 * 0.999^6 / (1 - 0.999^6) = 5.997 > 5 (arXiv 1908.03265).
TEST(Radam, RectifiesFromTheSixthStepOnWithTorchsBetas) {
  EXPECT_EQ(radam_rectification(5, 0.999), 0);
  const double power = std::pow(0.999, 6);
  const double length = 1999 - 12 * power / (1 - power);
  EXPECT_NEAR(radam_rectification(6, 0.999),
              std::sqrt((length - 4) * (length - 2) * 1999 / (1995.0 * 1997.0 * length)), 1e-9);
}

TEST(Radam, TheRectificationTendsToOne) {
  EXPECT_NEAR(radam_rectification(100000, 0.999), 1, 1e-9);
}

TEST(Radam, NeverRectifiesAShortAverage) {
  EXPECT_EQ(radam_rectification(1000, 0.5), 0);  // rho_inf = 3
}

// Slow weights start at 0; two fast steps of -1 lead to -2; half way back is -1.
TEST(Lookahead, PullsTheFastWeightsBackEveryKSteps) {
  const auto p = parameter("p", {0});
  const auto lookahead = build(
      {{"type", "lookahead"}, {"inner", {{"type", "sgd"}, {"lr", 1}}}, {"k", 2}, {"alpha", 0.5}},
      {group({p})});
  set_gradient(p, {1});
  step(*lookahead);
  EXPECT_THAT(values(p.tensor), ElementsAre(-1));
  step(*lookahead);
  EXPECT_THAT(values(p.tensor), ElementsAre(-1));
  step(*lookahead);
  EXPECT_THAT(values(p.tensor), ElementsAre(-2));
  EXPECT_EQ(lookahead->lr(), 1);
}

// Adam's first update is (1, 1), of norm sqrt 2; the weights' norm is 5.
TEST(Lamb, ScalesTheUpdateToTheNormOfTheWeights) {
  const auto p = parameter("p", {3, 4});
  const auto lamb = build(
      {{"type", "lamb"}, {"lr", 0.1}, {"eps", 0}, {"weight_decay", 0}, {"always_adapt", true}},
      {group({p})});
  set_gradient(p, {0.1, 0.2});
  step(*lamb);
  const double moved = 0.1 * 5 / std::sqrt(2.0);
  EXPECT_THAT(values(p.tensor),
              ElementsAre(DoubleNear(3 - moved, 1e-9), DoubleNear(4 - moved, 1e-9)));
}

TEST(Lamb, LimitsTheRatioWhereTold) {
  const auto p = parameter("p", {30, 40});
  const auto lamb = build({{"type", "lamb"},
                           {"lr", 0.1},
                           {"eps", 0},
                           {"weight_decay", 0},
                           {"always_adapt", true},
                           {"max_trust", 10}},
                          {group({p})});
  set_gradient(p, {0.1, 0.2});
  step(*lamb);
  EXPECT_THAT(values(p.tensor), ElementsAre(DoubleNear(29, 1e-9), DoubleNear(39, 1e-9)));
}

// Norms: weights 5, gradient 2: the step is lr * 0.1 * 5 / (2 + 5 * 0.2) * (g + 0.2 w).
TEST(Lars, ScalesTheGradientToAShareOfTheWeights) {
  const auto p = parameter("p", {3, 4});
  const auto lars =
      build({{"type", "lars"}, {"lr", 1}, {"trust_coeff", 0.1}, {"eps", 0}, {"weight_decay", 0.2}},
            {group({p})});
  set_gradient(p, {2, 0});
  step(*lars);
  const double ratio = 0.1 * 5 / 3;
  EXPECT_THAT(values(p.tensor),
              ElementsAre(DoubleNear(3 - ratio * 2.6, 1e-12), DoubleNear(4 - ratio * 0.8, 1e-12)));
}

}  // namespace
}  // namespace ddptrain::testing_optim
