// Steps of one graph, from the passes to the average of the weights, give the bits of steps that
// the host makes one by one, and end a run where those do.
#include <gmock/gmock.h>

#include "on_device/graph_runs.h"
#include "optim/loss_scale.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;
using testing::HasSubstr;

GraphRun whole_run(json optimizer) {
  auto kind = graph_run(std::move(optimizer));
  kind.single = true;
  return kind;
}

const std::vector<json>& optimizers() {
  static const std::vector<json> all{
      kMomentum,
      {{"type", "sgd"}, {"momentum", 0}, {"weight_decay", 0.1}, {"decoupled_weight_decay", true}},
      "adam",
      "adamw",
      {{"type", "adamw"}, {"amsgrad", true}}};
  return all;
}

void set_schedule(TrainingStage& stage, const Choice<Schedule>& schedule) {
  stage.schedule = catalog<Schedule>().build(schedule, ScheduleContext{0.1, 0.9});
}

void add_average(SmallTraining& t, const EmaOptions& options) {
  t.recipe.train.ema.emplace();
  t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(), options);
}

void skip_what_is_not_finite(SmallTraining& t) {
  t.recipe.policy.on_non_finite = OnNonFinite::skip;
}

void expect_one_graph(const GraphRun& kind, std::int64_t steps = 15) {
  expect_the_bits_of_eager_steps(kind, steps, 1);
}

TEST(WholeStep, GivesTheBitsOfEagerSteps) {
  for (const auto& optimizer : optimizers()) {
    SCOPED_TRACE(optimizer.dump());
    expect_one_graph(whole_run(optimizer));
  }
}

TEST(WholeStep, FollowsARateThatChangesEachStep) {
  for (const auto& optimizer : optimizers()) {
    SCOPED_TRACE(optimizer.dump());
    expect_one_graph(altered(whole_run(optimizer), [](SmallTraining& t) {
      set_schedule(t.stages[0], Choice<Schedule>("cosine"));
    }));
  }
}

TEST(WholeStep, HasARateForEachLayerGroup) {
  expect_one_graph(altered(whole_run("adamw"), [](SmallTraining& t) {
    set_schedule(t.stages[0], Choice<Schedule>("cosine"));
    auto groups = group_parameters(t.engine->model(), {}, {});
    auto& first = groups.front();
    auto other = first;
    other.lr_scale = 0.25;
    other.parameters = {first.parameters.back()};
    first.parameters.pop_back();
    groups.push_back(other);
    t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>("adamw"), groups);
  }));
}

TEST(WholeStep, FollowsAMomentumThatChangesEachStep) {
  for (const auto& optimizer : optimizers()) {
    SCOPED_TRACE(optimizer.dump());
    expect_one_graph(altered(whole_run(optimizer), [](SmallTraining& t) {
      set_schedule(t.stages[0], Choice<Schedule>("one_cycle"));
    }));
  }
}

// In fp64, where the rate is a double of the host.
TEST(WholeStep, IsTwoGraphsWhereTheOptimizerReadsNumbersOfTheHost) {
  expect_the_bits_of_eager_steps(graph_run("adamw"), 15, 2);
  expect_the_bits_of_eager_steps(whole_run("lion"), 15, 2);
}

// Of 8 epochs with 6 full batches and a short one, the first 3 of each shape are eager.
TEST(WholeStep, KeepsTheGraphsOfSeveralShapes) {
  auto kind = whole_run("adamw");
  kind.run.epochs = 8;
  expect_one_graph(kind, (6 * 8 - 3) + (8 - 3));
}

TEST(WholeStep, IsOneLaunch) {
  for (const auto& optimizer : {kMomentum, json("adamw")}) {
    const auto made = made_with(true, altered(whole_run(optimizer), [](SmallTraining& t) {
                                  set_schedule(t.stages[0], Choice<Schedule>("cosine"));
                                  add_average(t, {.decay = 0.9});
                                }));
    EXPECT_EQ(made.launches[17] - made.launches[16], 1) << optimizer.dump();
    EXPECT_EQ(made.launches[18] - made.launches[17], 1) << optimizer.dump();
  }
}

TEST(WholeStep, MovesTheAverageOfTheWeights) {
  expect_one_graph(
      altered(whole_run("adamw"), [](SmallTraining& t) { add_average(t, {.decay = 0.9}); }));
}

// The graph copies the weights to that type; between steps, evaluations read the average.
TEST(WholeStep, ComputesInHalfPrecision) {
  for (const bool evaluates : {false, true}) {
    auto kind =
        altered(whole_run("adamw"), [](SmallTraining& t) { add_average(t, {.decay = 0.9}); });
    kind.autocast = at::kBFloat16;
    kind.evaluates = evaluates;
    expect_one_graph(kind);
  }
}

// Five updates copy: three steps of warm-up, and two graphs a step until the share is constant.
TEST(WholeStep, WaitsForAShareThatStaysAsItIs) {
  const auto later = [](SmallTraining& t) {
    add_average(t, {.decay = 0.9, .update_after_step = 8});
  };
  const auto kind = altered(whole_run(kMomentum), later);
  const auto graph = made_with(true, kind);
  expect_equal_bits(graph, made_with(false, kind));
  EXPECT_GT(graph.replays, 0);
  expect_the_bits_of_eager_steps(
      altered(whole_run(kMomentum),
              [](SmallTraining& t) { add_average(t, {.decay = 0.9, .warmup = true}); }),
      15, 2);
}

TEST(WholeStep, MovesStatisticsAndClips) {
  for (const json& clip :
       {json{{"type", "norm"}, {"max", 0.1}}, json{{"type", "value"}, {"max", 0.01}}}) {
    auto kind = altered(whole_run("adamw"), [clip](SmallTraining& t) {
      t.clip = catalog<Clip>().build(fragment<Clip>(clip));
      t.recipe.log.every = {2, Duration::Unit::steps};
    });
    kind.run.norm = true;
    expect_one_graph(kind);
  }
}

TEST(WholeStep, ReportsTheNormOfStepsThatAreLogged) {
  expect_one_graph(altered(whole_run(kMomentum), [](SmallTraining& t) {
    t.recipe.log.every = {2, Duration::Unit::steps};
  }));
}

// Samples 32 to 39 are those of the fifth step of each epoch, 40 to 47 of the sixth.
TEST(WholeStep, LeavesOutStepsThatAreNotFinite) {
  for (const auto& optimizer : {kMomentum, json("adamw")})
    for (const std::set<std::int64_t>& poisoned : {std::set<std::int64_t>{41}, {33, 41}, {52}}) {
      SCOPED_TRACE(optimizer.dump() + testing::PrintToString(poisoned));
      auto kind = altered(whole_run(optimizer), [](SmallTraining& t) {
        skip_what_is_not_finite(t);
        add_average(t, {.decay = 0.9});
      });
      kind.poisoned = poisoned;
      expect_one_graph(kind);
      EXPECT_EQ(made_with(true, kind).skipped, 3 * std::ssize(poisoned));
    }
}

// The optimizer and the average have made a step before they are captured.
TEST(WholeStep, LeavesOutTheFirstSteps) {
  for (const auto& optimizer : {kMomentum, json("adamw")}) {
    auto kind = altered(whole_run(optimizer), [](SmallTraining& t) {
      skip_what_is_not_finite(t);
      add_average(t, {.decay = 0.9});
    });
    kind.poisoned = {1, 9, 17};
    const auto graph = made_with(true, kind);
    expect_equal_bits(graph, made_with(false, kind));
    EXPECT_GT(graph.replays, 0);
  }
}

// The step after it was given to the device by then, and must not have moved a thing.
TEST(WholeStep, StopsAtTheFirstStepThatIsNotFinite) {
  for (const auto& optimizer : {kMomentum, json("adamw")})
    for (const std::int64_t poisoned : {33, 41}) {
      SCOPED_TRACE(optimizer.dump() + " " + std::to_string(poisoned));
      auto kind =
          altered(whole_run(optimizer), [](SmallTraining& t) { add_average(t, {.decay = 0.9}); });
      kind.poisoned = {poisoned};
      const auto graph = made_with(true, kind);
      expect_equal_bits(graph, made_with(false, kind));
      EXPECT_GT(graph.replays, 0);
      EXPECT_THAT(graph.message,
                  HasSubstr("the loss is not finite at step " + std::to_string(poisoned / 8 + 1)));
    }
}

TEST(WholeStep, FollowsALossScaleThatARefusedStepHalves) {
  for (const auto& optimizer : {kMomentum, json("adamw")}) {
    auto kind = altered(whole_run(optimizer), [](SmallTraining& t) {
      t.state.loss_scale.emplace(LossScaleOptions{.initial = 1024, .growth_interval = 3});
    });
    kind.poisoned = {33, 41};
    expect_one_graph(kind);
    EXPECT_EQ(made_with(true, kind).skipped, 6);
  }
}

TEST(WholeStep, EndsWhereTooManySamplesAreBad) {
  auto kind = whole_run(kMomentum);
  kind.run.bad = {33, 34};
  kind.run.bad_share = 0.01;
  const auto graph = made_with(true, kind);
  expect_equal_bits(graph, made_with(false, kind));
  EXPECT_THAT(graph.message, HasSubstr("2 of 55 training samples of epoch 1"));
}

TEST(WholeStep, LeavesBatchesWithBadSamplesToTheHost) {
  auto kind = whole_run("adamw");
  kind.run.bad = {33};
  expect_one_graph(kind, 12);
}

TEST(WholeStep, GoesOnAfterAnEvaluation) {
  auto kind = altered(whole_run("adamw"), [](SmallTraining& t) { add_average(t, {.decay = 0.9}); });
  kind.evaluates = true;
  expect_one_graph(kind);
}

TEST(WholeStep, IsCapturedAnewInAStageThatResetsTheOptimizer) {
  for (const auto& optimizer : {kMomentum, json("adamw")})
    expect_one_graph(altered(whole_run(optimizer),
                             [](SmallTraining& t) {
                               auto second = TrainingStage{};
                               t.stages[0].steps = second.first = 9;
                               second.steps = 12;
                               second.resets_optimizer = true;
                               set_schedule(second, Choice<Schedule>("constant"));
                               t.stages[0].frozen.parameters = {
                                   t.engine->model().named_parameters().front().name};
                               t.stages.push_back(std::move(second));
                             }),
                     5 + 7);
}

TEST(WholeStep, ResumesInMidEpochToTheBitsOfARunThatWasNotInterrupted) {
  for (const auto& optimizer : {kMomentum, json("adamw")}) {
    const auto kind = altered(whole_run(optimizer), [](SmallTraining& t) {
      set_schedule(t.stages[0], Choice<Schedule>("cosine"));
      add_average(t, {.decay = 0.9});
    });
    const auto expected = made_with(false, kind);
    auto world = single_world();
    auto first = graph_training(world, kind, true);
    first.length.total = 12;
    EXPECT_GT(end_of(first, kind).replays, 0);
    const auto checkpoint = capture(first);
    auto second = graph_training(world, kind, true);
    restore(second, checkpoint);
    const auto ended = end_of(second, kind);
    EXPECT_GT(ended.replays, 0);
    for (std::size_t i = 0; i < expected.tensors.size(); ++i)
      EXPECT_TRUE(ended.tensors[i].tensor.equal(expected.tensors[i].tensor))
          << expected.tensors[i].name;
  }
}

}  // namespace
}  // namespace ddptrain
