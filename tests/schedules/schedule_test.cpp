// Shapes of schedules at the points that define them.
#include "schedules/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "schedules/curve.h"
#include "schedules/rate_plan.h"
#include "support/node.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::unique_ptr<Schedule> build(const json& recipe, double lr = 1) {
  return catalog<Schedule>().build(fragment<Schedule>(recipe), ScheduleContext{lr, 0.9});
}

/// The rate of a step in a run of 100 steps, 10 an epoch.
double rate(const Schedule& schedule, std::int64_t step) { return schedule.lr({step, 100, 10}); }

TEST(CyclicSchedule, RefusesALowerRateAboveTheUpper) {
  EXPECT_THAT(
      [] {
        build({{"type", "cyclic"}, {"min_lr", 0.2}}, 0.1);
      },
      ThrowsMessage<Error>("schedule.min_lr: it is above optimizer.lr, the upper rate"));
}

TEST(ConstantSchedule, IsTheOptimizersRate) {
  EXPECT_EQ(rate(*build("constant", 0.3), 0), 0.3);
  EXPECT_EQ(rate(*build("constant", 0.3), 99), 0.3);
}

TEST(ConstantSchedule, HoldsItsFactorForAWhile) {
  const auto schedule = build({{"type", "constant"}, {"factor", 0.5}, {"over", "1 epoch"}});
  EXPECT_EQ(rate(*schedule, 9), 0.5);
  EXPECT_EQ(rate(*schedule, 10), 1);
}

TEST(LinearSchedule, EndsAtNothingByDefault) {
  const auto schedule = build("linear");
  EXPECT_EQ(rate(*schedule, 0), 1);
  EXPECT_DOUBLE_EQ(rate(*schedule, 25), 0.75);
  EXPECT_EQ(rate(*schedule, 100), 0);
}

TEST(PolynomialSchedule, OfPowerTwoIsAParabolaToItsFloor) {
  const auto schedule = build({{"type", "polynomial"}, {"power", 2}, {"min_lr", 0.2}});
  EXPECT_DOUBLE_EQ(rate(*schedule, 50), 0.2 + 0.8 * 0.25);
  EXPECT_EQ(rate(*schedule, 100), 0.2);
}

TEST(CosineSchedule, EndsAtItsFloor) {
  const auto schedule = build({{"type", "cosine"}, {"min_lr", 0.1}});
  EXPECT_EQ(rate(*schedule, 0), 1);
  EXPECT_NEAR(rate(*schedule, 50), 0.55, 1e-12);
  EXPECT_NEAR(rate(*schedule, 100), 0.1, 1e-12);
}

TEST(CosineSchedule, ByEpochStaysForAnEpoch) {
  const auto schedule = build({{"type", "cosine"}, {"by", "epoch"}});
  EXPECT_EQ(rate(*schedule, 9), 1);
  EXPECT_EQ(rate(*schedule, 10), rate(*schedule, 19));
  EXPECT_NEAR(rate(*schedule, 50), 0.5, 1e-12);
}

TEST(CosineRestartsSchedule, BeginsAgainAfterLongerAndLongerCycles) {
  const auto schedule = build({{"type", "cosine_restarts"}, {"period", "10 %"}, {"mult", 2}});
  for (const int restart : {0, 10, 30, 70}) EXPECT_EQ(rate(*schedule, restart), 1) << restart;
  EXPECT_NEAR(rate(*schedule, 20), 0.5, 1e-12);
}

TEST(CosineRestartsSchedule, FillsTheRunWithItsCycles) {
  const auto alike = build({{"type", "cosine_restarts"}, {"num_cycles", 8}, {"mult", 1}});
  EXPECT_EQ(rate(*alike, 25), 1);  // 100 / 8 is no whole number of steps
  EXPECT_NEAR(rate(*alike, 31), (1 + std::cos(std::numbers::pi * 6 / 12.5)) / 2, 1e-12);
  const auto longer = build({{"type", "cosine_restarts"}, {"num_cycles", 2}, {"mult", 3}});
  EXPECT_EQ(rate(*longer, 25), 1);
  EXPECT_NEAR(rate(*longer, 62), (1 + std::cos(std::numbers::pi * 37 / 75)) / 2, 1e-12);
}

TEST(CosineRestartsSchedule, StaysLowAfterItsLastCycle) {
  const auto schedule =
      build({{"type", "cosine_restarts"}, {"num_cycles", 2}, {"min_lr_ratio", 0.25}}, 0.4);
  EXPECT_EQ(rate(*schedule, 100), 0.1);
  EXPECT_EQ(rate(*schedule, 150), 0.1);
}

TEST(CosineRestartsSchedule, HasNoCycleShorterThanAStep) {
  for (const int mult : {1, 1'000'000}) {
    const auto schedule =
        build({{"type", "cosine_restarts"}, {"num_cycles", 1'000'000}, {"mult", mult}});
    EXPECT_EQ(rate(*schedule, 1), 1) << mult;
  }
}

TEST(StepSchedule, CountsEpochsAndSteps) {
  const auto epochs = build({{"type", "step"}, {"every", "3 epochs"}, {"gamma", 0.5}});
  EXPECT_EQ(rate(*epochs, 29), 1);
  EXPECT_EQ(rate(*epochs, 30), 0.5);
  const auto steps = build({{"type", "step"}, {"every", "45 steps"}, {"gamma", 0.5}});
  EXPECT_EQ(rate(*steps, 90), 0.25);
}

TEST(MultiStepSchedule, MixesUnits) {
  const auto schedule = build(
      {{"type", "multi_step"}, {"milestones", {"50 %", "8 epochs", "81 steps"}}, {"gamma", 0.5}});
  EXPECT_EQ(rate(*schedule, 49), 1);
  EXPECT_EQ(rate(*schedule, 50), 0.5);
  EXPECT_EQ(rate(*schedule, 80), 0.25);
  EXPECT_EQ(rate(*schedule, 81), 0.125);
}

TEST(ExponentialSchedule, FallsOnceAnEpoch) {
  const auto schedule = build({{"type", "exponential"}, {"gamma", 0.5}});
  EXPECT_EQ(rate(*schedule, 9), 1);
  EXPECT_EQ(rate(*schedule, 25), 0.25);
}

TEST(FlatCosineSchedule, IsFlatThenFalls) {
  const auto schedule = build({{"type", "flat_cosine"}, {"flat", "50 %"}});
  EXPECT_NEAR(rate(*schedule, 50), 1, 1e-7);
  EXPECT_NEAR(rate(*schedule, 75), 0.5, 1e-5);
  EXPECT_NEAR(rate(*schedule, 100), 1e-5, 1e-12);
}

TEST(OneCycleSchedule, RisesToTheRateWhileMomentumFalls) {
  const auto schedule = build("one_cycle");
  EXPECT_NEAR(rate(*schedule, 0), 0.04, 1e-12);
  EXPECT_NEAR(rate(*schedule, 25), 1, 1e-12);
  EXPECT_NEAR(*schedule->momentum({0, 100, 10}), 0.95, 1e-12);
  EXPECT_NEAR(*schedule->momentum({25, 100, 10}), 0.85, 1e-12);
}

TEST(OneCycleSchedule, LikeTorchReachesItsEndInTheLastStep) {
  const auto schedule = build({{"type", "one_cycle"}, {"like", "torch"}});
  EXPECT_NEAR(rate(*schedule, 99), 0.04 / 1e4, 1e-15);
  EXPECT_NEAR(*schedule->momentum({99, 100, 10}), 0.95, 1e-12);
}

TEST(OneCycleSchedule, LeavesMomentumAloneWhereThereIsNoneOrNullIsSaid) {
  EXPECT_FALSE(build({{"type", "one_cycle"}, {"moms", nullptr}})->momentum({0, 100, 10}));
  const auto without =
      catalog<Schedule>().build(fragment<Schedule>("one_cycle"), ScheduleContext{1, std::nullopt});
  EXPECT_FALSE(without->momentum({0, 100, 10}));
}

TEST(OneCycleSchedule, SurvivesARunOfOneStep) {
  for (const auto* like : {"torch", "fastai"}) {
    const auto schedule = build({{"type", "one_cycle"}, {"like", like}});
    const double lr = schedule->lr({0, 1, 1});
    EXPECT_TRUE(lr > 0 && lr <= 1) << like << " " << lr;
  }
}

TEST(CyclicSchedule, HalvesItsHeightAtEachCycleInTriangular2) {
  const auto schedule =
      build({{"type", "cyclic"}, {"min_lr", 0.2}, {"up", "10 steps"}, {"mode", "triangular2"}});
  EXPECT_DOUBLE_EQ(rate(*schedule, 0), 0.2);
  EXPECT_DOUBLE_EQ(rate(*schedule, 10), 1);
  EXPECT_DOUBLE_EQ(rate(*schedule, 20), 0.2);
  EXPECT_DOUBLE_EQ(rate(*schedule, 30), 0.6);
}

TEST(CyclicSchedule, ShrinksAtEachStepInExpRange) {
  const auto schedule =
      build({{"type", "cyclic"}, {"up", "1 epoch"}, {"mode", "exp_range"}, {"gamma", 0.9}});
  EXPECT_DOUBLE_EQ(rate(*schedule, 10), std::pow(0.9, 10));
  EXPECT_DOUBLE_EQ(*schedule->momentum({10, 100, 10}), 0.9 - 0.1 * std::pow(0.9, 10));
}

TEST(CombinedSchedule, GoesThroughItsParts) {
  const auto schedule = build({{"type", "combined"},
                               {"parts",
                                {{{"curve", "linear"}, {"start", 0}, {"share", "20 %"}, {"end", 1}},
                                 {{"curve", "constant"}, {"share", "80 %"}}}}});
  EXPECT_NEAR(rate(*schedule, 10), 0.5, 1e-6);
  EXPECT_EQ(rate(*schedule, 60), 1);
}

TEST(CombinedSchedule, HasNoExponentialToZero) {
  const json part = {{"curve", "exponential"}};
  EXPECT_EQ(test::refused<Schedule>({{"type", "combined"}, {"parts", json::array({part})}}),
            "parts[0].curve: 'curve: exponential' needs 'end'\n");
}

TEST(OneCycle, HasThreePhasesLikeTorch) {
  json recipe = {{"type", "one_cycle"}, {"three_phase", true}};
  EXPECT_EQ(test::refused<Schedule>(recipe),
            "three_phase: 'three_phase: true' needs 'like: torch'; it is fastai by default\n");
  recipe["like"] = "torch";
  EXPECT_EQ(test::refused<Schedule>(recipe), "");
  recipe["anneal"] = "exponential";
  EXPECT_THAT(test::refused<Schedule>(recipe), HasSubstr("is not one of linear, cosine"));
}

TEST(Warmup, RisesOnALineAndGivesTheScheduleTheRest) {
  const auto schedule = build({{"type", "cosine"}, {"warmup", "1 epoch"}, {"warmup_start", 0.1}});
  EXPECT_DOUBLE_EQ(rate(*schedule, 0), 0.1);
  EXPECT_DOUBLE_EQ(rate(*schedule, 5), 0.55);
  EXPECT_EQ(rate(*schedule, 10), 1);
  EXPECT_NEAR(rate(*schedule, 55), 0.5, 1e-12);
  EXPECT_NEAR(rate(*schedule, 100), 0, 1e-12);
}

TEST(Warmup, RefusesWhatHasNoNumberOfSteps) {
  EXPECT_EQ(test::refused<Schedule>({{"type", "constant"}, {"warmup", "30 s"}}),
            "warmup: '30 s' is not a number of steps; write steps, epochs or a share of the run, "
            "such as '5 %'\n");
}

TEST(JoinedCurves, BelongToTheLastPartThatHasBegun) {
  const JoinedCurves curves({0, 1}, {{Anneal::linear, 5, 5}, {Anneal::linear, 1, 3}});
  EXPECT_EQ(curves.at(0), 1);
  EXPECT_EQ(curves.at(0.5), 2);
}

TEST(SpreadRates, GrowGeometrically) {
  EXPECT_THAT(spread_rates(1e-4, 1e-2, 3),
              ElementsAre(DoubleNear(1e-4, 1e-12), DoubleNear(1e-3, 1e-12), 1e-2));
  EXPECT_THAT(spread_rates(std::nullopt, 1, 3), ElementsAre(0.1, 0.1, 1));
  EXPECT_THAT(spread_rates(1e-4, 1e-2, 1), ElementsAre(1e-2));
}

// A rate is finite and not negative at every step of short and long runs, and after the end.
class EverySchedule : public testing::TestWithParam<std::string> {};

TEST_P(EverySchedule, HasAFiniteRateEverywhere) {
  json recipe{{"type", GetParam()}};
  if (GetParam() == "multi_step") recipe["milestones"] = {"50 %"};
  if (GetParam() == "combined") recipe["parts"] = json::array({json::object()});
  for (const bool warm : {false, true}) {
    if (warm) recipe["warmup"] = "10 %";
    const auto schedule = build(recipe);
    for (const std::int64_t total : {1, 2, 3, 10, 97})
      for (std::int64_t step = 0; step <= total + 1; ++step) {
        const double lr = schedule->lr({step, total, 3});
        EXPECT_TRUE(lr >= -1e-12 && lr <= 1 + 1e-12) << "step " << step << " of " << total;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, EverySchedule, testing::ValuesIn(catalog<Schedule>().names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace ddptrain
