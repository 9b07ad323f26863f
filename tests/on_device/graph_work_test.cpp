// Steps whose passes a device repeats by itself give the bits of steps that the host makes one by
// one.
#include "train/graph/graph_work.h"
#include "train/update/decision.h"

#include <gmock/gmock.h>

#include "on_device/graph_runs.h"
#include "optim/loss_scale.h"
#include "train/update/decision.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::HasSubstr;

TEST(SplitStep, GivesTheBitsOfEagerStepsWithEveryOptimizer) {
  for (const auto& optimizer : {kMomentum, nlohmann::json("adam"), nlohmann::json("adamw"),
                                nlohmann::json("ranger"), nlohmann::json("lion")}) {
    SCOPED_TRACE(optimizer.dump());
    expect_the_bits_of_eager_steps(graph_run(optimizer));
  }
}

TEST(SplitStep, MovesTheStatisticsOfBatchNorm) {
  auto kind = graph_run(kMomentum);
  kind.run.norm = true;
  expect_the_bits_of_eager_steps(kind);
}

TEST(SplitStep, LeavesTheAverageOfTheWeightsAsItIs) {
  expect_the_bits_of_eager_steps(altered(graph_run("adamw"), [](SmallTraining& t) {
    t.recipe.train.ema.emplace();
    t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(),
                                  EmaOptions{.decay = 0.99, .warmup = true});
  }));
}

TEST(SplitStep, FollowsASchedulesRateAndMomentum) {
  for (const auto& optimizer : {kMomentum, nlohmann::json("adamw")})
    expect_the_bits_of_eager_steps(altered(graph_run(optimizer), [](SmallTraining& t) {
      t.stages[0].schedule =
          catalog<Schedule>().build(Choice<Schedule>("one_cycle"), ScheduleContext{0.1, 0.9});
    }));
}

TEST(SplitStep, LeavesClippingAsItIs) {
  for (const nlohmann::json& clip : {nlohmann::json{{"type", "norm"}, {"max", 0.1}},
                                     nlohmann::json{{"type", "value"}, {"max", 0.01}}})
    expect_the_bits_of_eager_steps(altered(graph_run(kMomentum), [clip](SmallTraining& t) {
      t.clip = catalog<Clip>().build(fragment<Clip>(clip));
    }));
}

TEST(SplitStep, ComputesInHalfPrecision) {
  auto kind = graph_run("adamw");
  kind.autocast = at::kBFloat16;
  expect_the_bits_of_eager_steps(kind, 15, 1);
}

// Samples 40 and on are in a step that a graph makes: the sixth of each epoch.
TEST(SplitStep, FollowsALossScaleThatARefusedStepHalves) {
  auto kind = altered(graph_run(kMomentum), [](SmallTraining& t) {
    t.state.loss_scale.emplace(LossScaleOptions{.initial = 1024, .growth_interval = 3});
  });
  kind.poisoned = {41};
  expect_the_bits_of_eager_steps(kind);
  EXPECT_EQ(made_with(true, kind).skipped, 3);
}

TEST(SplitStep, LeavesOutStepsThatAreNotFinite) {
  auto kind = altered(graph_run("adamw"),
                      [](SmallTraining& t) { t.recipe.policy.on_non_finite = OnNonFinite::skip; });
  kind.poisoned = {41};
  expect_the_bits_of_eager_steps(kind);
}

TEST(SplitStep, StopsAtTheFirstStepThatIsNotFinite) {
  auto kind = graph_run(kMomentum);
  kind.poisoned = {41};
  const auto graph = made_with(true, kind);
  expect_equal_bits(graph, made_with(false, kind));
  EXPECT_THAT(graph.message, HasSubstr("the loss is not finite at step 6"));
}

TEST(SplitStep, LeavesBatchesWithBadSamplesToTheHost) {
  auto kind = graph_run(kMomentum);
  kind.run.bad = {33};  // in the fifth step of each epoch
  expect_the_bits_of_eager_steps(kind, 12);
}

TEST(SplitStep, GoesOnAfterAnEvaluation) {
  auto kind = altered(graph_run("adamw"), [](SmallTraining& t) {
    t.recipe.train.ema.emplace();
    t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(), 0.9);
  });
  kind.evaluates = true;
  expect_the_bits_of_eager_steps(kind);
}

TEST(SplitStep, IsCapturedAnewInAStageThatTrainsOtherWeights) {
  const auto kind = altered(graph_run(kMomentum), [](SmallTraining& t) {
    auto second = TrainingStage{};
    t.stages[0].steps = second.first = 9;
    second.steps = 12;
    second.schedule =
        catalog<Schedule>().build(Choice<Schedule>("constant"), ScheduleContext{0.05, 0.9});
    t.stages[0].frozen.parameters = {t.engine->model().named_parameters().front().name};
    t.stages.push_back(std::move(second));
  });
  // Steps 4 to 9 but the seventh; 13 and on but 14 and 21.
  expect_the_bits_of_eager_steps(kind, 5 + 7);
}

TEST(SplitStep, ResumesToTheBitsOfARunThatWasNotInterrupted) {
  const auto kind = graph_run("adamw");
  const auto expected = made_with(false, kind);
  auto world = single_world();
  auto first = graph_training(world, kind, true);
  first.length.total = 12;
  end_of(first, kind);
  const auto checkpoint = capture(first);
  auto second = graph_training(world, kind, true);
  restore(second, checkpoint);
  const auto ended = end_of(second, kind);
  EXPECT_GT(ended.replays, 0);
  for (std::size_t i = 0; i < expected.tensors.size(); ++i)
    EXPECT_TRUE(ended.tensors[i].tensor.equal(expected.tensors[i].tensor))
        << expected.tensors[i].name;
}

TEST(SplitStep, MakesTheTwoPassesInOneLaunch) {
  const auto kind = graph_run(kMomentum);
  auto world = single_world();
  auto t = graph_training(world, kind, true);
  auto batch = t.data->allocate(Split::train, 8);
  for (std::int64_t row = 0; row < 8; ++row) t.data->load(Split::train, row, {}, batch, row);
  batch.inputs[0] = batch.inputs[0].to(simulated_device());
  batch.targets[0] = batch.targets[0].to(simulated_device());
  Decision decision(simulated_device(), {});
  GraphWork work(t, decision);
  const auto pass = [&](std::int64_t step) {
    work.begin({.step = step}, 1);
    work.pass(batch, {.step = step});
  };
  for (std::int64_t step = 0; step < 4; ++step) pass(step);
  simulated::reset();
  pass(4);
  EXPECT_EQ(simulated::counts().replays, 1);
  EXPECT_EQ(simulated::counts().operators, 4) << "the step's number, the batch, and the graph";
  EXPECT_EQ(simulated::counts().waited(), 0);
}

TEST(SplitStep, LeavesFourLaunchesToTheHost) {
  const auto launches = made_with(true, graph_run(kMomentum)).launches;
  const auto eager = made_with(false, graph_run(kMomentum)).launches;
  EXPECT_EQ(launches[17] - launches[16], 4) << "the step's number, two graphs, the optimizer";
  EXPECT_GE(eager[17] - eager[16], 50);
}

// Other steps do not need the norm: a graph of its own.
TEST(SplitStep, HasAnotherEndWhereTheNormIsWanted) {
  expect_the_bits_of_eager_steps(altered(graph_run(kMomentum), [](SmallTraining& t) {
    t.recipe.log.every = {2, Duration::Unit::steps};
  }));
}

}  // namespace
}  // namespace ddptrain
