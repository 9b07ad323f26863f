// The rates of a run over its stages.
#include "schedules/rate_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "recipe/recipe.h"
#include "support/node.h"

namespace ddptrain {
namespace {

constexpr double kExact = 1e-15;

Recipe recipe_for(const nlohmann::json& schedule, const nlohmann::json& optimizer) {
  Recipe recipe;
  recipe.schedule = fragment<Schedule>(schedule);
  recipe.optimizer = fragment<Optimizer>(optimizer);
  return recipe;
}

StageSpec stage_of(Duration duration) {
  StageSpec stage;
  stage.duration = duration;
  return stage;
}

/// 2 epochs of 5 steps at the optimizer's rate, then 4 steps of a straight line from 0.4 to 0.
Recipe two_stages(const nlohmann::json& optimizer) {
  auto recipe = recipe_for("constant", optimizer);
  auto line = stage_of(steps(4));
  line.schedule = fragment<Schedule>("linear");
  line.lr = LearningRate(0.4);
  recipe.train.stages = {stage_of(epochs(2)), line};
  return recipe;
}

void expect_rates(const RatePlan& plan, std::int64_t first, const std::vector<double>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto step = first + static_cast<std::int64_t>(i);
    EXPECT_EQ(plan.at(step).step, step);
    EXPECT_NEAR(plan.at(step).lr, wanted[i], kExact) << "step " << step;
  }
}

TEST(RatePlan, GivesEachStageASchedule) {
  const RunLength length{14, 5, 64};
  const auto recipe = two_stages({{"type", "sgd"}, {"lr", 0.1}});
  EXPECT_EQ(stage_steps(recipe, length), (std::vector<std::int64_t>{10, 4}));
  const auto plan = plan_rates(recipe, length, {0.1, 0.9});
  ASSERT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.stages[1].first, 10);
  EXPECT_EQ(plan.stages[1].steps, 4);
  expect_rates(plan, 8, {0.1, 0.1, 0.4, 0.3, 0.2, 0.1});
}

TEST(RatePlan, ScalesEveryRateWithTheGlobalBatch) {
  const nlohmann::json optimizer{{"type", "sgd"}, {"lr", 0.1}, {"lr_batch", 256}};
  const auto plan = plan_rates(two_stages(optimizer), {14, 5, 64}, {0.1, 0.9});
  expect_rates(plan, 8, {0.025, 0.025, 0.1, 0.075, 0.05, 0.025});  // 64 / 256 of them
}

TEST(RatePlan, ScalesWithTheRootOfTheBatch) {
  const nlohmann::json optimizer{
      {"type", "sgd"}, {"lr", 0.1}, {"lr_batch", 256}, {"lr_scaling", "sqrt"}};
  const auto plan = plan_rates(two_stages(optimizer), {14, 5, 64}, {0.1, 0.9});
  expect_rates(plan, 8, {0.05, 0.05, 0.2, 0.15, 0.1, 0.05});  // sqrt(64 / 256) of them
}

TEST(RatePlan, ScalesTheRateOfAnOptimizerThatOthersWrap) {
  const nlohmann::json inner{{"type", "sgd"}, {"lr", 0.1}, {"lr_batch", 32}};
  const auto recipe = recipe_for("constant", {{"type", "lookahead"}, {"inner", inner}});
  EXPECT_NEAR(plan_rates(recipe, {10, 5, 64}, {0.1, {}}).at(0).lr, 0.2, kExact);
}

// torch.optim.swa_utils.SWALR(SGD(lr=0.2), swa_lr=0.05, anneal_epochs=4, anneal_strategy=linear).
TEST(RatePlan, HoldsTheEndForStochasticWeightAveraging) {
  auto recipe = recipe_for("constant", {{"type", "sgd"}});
  recipe.train.swa = SwaSpec{};
  recipe.train.swa->start = Duration{0.5, Duration::Unit::share};
  recipe.train.swa->lr = 0.05;
  recipe.train.swa->anneal = SwaAnneal::linear;
  recipe.train.swa->over = steps(4);
  const std::vector<double> wanted{0.2, 0.2, 0.1625, 0.125, 0.0875, 0.05, 0.05};
  expect_rates(plan_rates(recipe, {20, 5, 64}, {0.2, 0.9}), 9, wanted);
  recipe.optimizer = fragment<Optimizer>({{"type", "sgd"}, {"lr_batch", 32}});
  std::vector<double> doubled;
  for (const double rate : wanted) doubled.push_back(2 * rate);
  expect_rates(plan_rates(recipe, {20, 5, 64}, {0.2, 0.9}), 9, doubled);
}

TEST(RatePlan, LeavesTheRateToTheScheduleWhereTheAverageNamesNone) {
  auto recipe = recipe_for("linear", {{"type", "sgd"}});
  recipe.train.swa = SwaSpec{};
  expect_rates(plan_rates(recipe, {4, 4, 64}, {0.4, 0.9}), 0, {0.4, 0.3, 0.2, 0.1});
}

TEST(RatePlan, OfARunInSecondsHasOneStageWithoutAnEnd) {
  auto recipe = recipe_for("constant", {{"type", "sgd"}});
  recipe.train.duration = Duration{30, Duration::Unit::seconds};
  EXPECT_EQ(stage_steps(recipe, {0, 5, 64}), std::vector<std::int64_t>{0});
  expect_rates(plan_rates(recipe, {0, 5, 64}, {0.1, {}}), 0, {0.1, 0.1});
}

TEST(RatePlan, GivesNoMomentumWhereNoScheduleMovesIt) {
  const RunLength length{10, 5, 64};
  EXPECT_FALSE(plan_rates(recipe_for("constant", {{"type", "sgd"}}), length, {0.1, 0.9})
                   .at(3)
                   .momentum.has_value());
  // fastai's fit_one_cycle: momentum begins at 0.95 and ends there.
  const auto cycle = plan_rates(recipe_for("one_cycle", {{"type", "sgd"}}), length, {0.1, 0.9});
  EXPECT_NEAR(cycle.at(0).momentum.value(), 0.95, kExact);
}

/// Half a cosine from `from` to `to`, as DINO's cosine_scheduler moves the weight decay.
double half_cosine(double from, double to, double share) {
  return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
}

TEST(RatePlan, MovesMomentumAndWeightDecayOverAllStages) {
  auto recipe = two_stages({{"type", "adamw"}, {"lr", 0.1}, {"weight_decay", 0.04}});
  recipe.weight_decay_schedule = fragment<Schedule>({{"type", "cosine"}, {"min_lr", 0.4}});
  recipe.momentum_schedule = fragment<Schedule>({{"type", "linear"}, {"end_factor", 0.5}});
  const auto plan = plan_rates(recipe, {14, 5, 64}, {0.1, 0.9, 0.04});
  for (std::int64_t step = 0; step < 14; ++step) {
    const double share = static_cast<double>(step) / 14;
    EXPECT_NEAR(plan.at(step).weight_decay.value(), half_cosine(0.04, 0.4, share), kExact);
    EXPECT_NEAR(plan.at(step).momentum.value(), 0.9 * (1 - 0.5 * share), kExact);
  }
  EXPECT_EQ(plan.at(9).lr, 0.1);
}

}  // namespace
}  // namespace ddptrain
