// What trains in which stage, and at which rates.
#include "train/stages.h"

#include <ATen/ops/ones_like.h>
#include <gmock/gmock.h>

#include "train/fake_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Three steps with the weight frozen, then three with a re-initialized state of the optimizer.
SmallTraining in_two_stages(World& world) {
  auto t = fake_training(world);
  t.stages.clear();
  for (const std::int64_t first : {0, 3}) {
    TrainingStage stage;
    stage.first = first;
    stage.steps = 3;
    stage.schedule =
        catalog<Schedule>().build(Choice<Schedule>("constant"), ScheduleContext{0.5, {}});
    t.stages.push_back(std::move(stage));
  }
  t.stages[0].frozen.parameters = {"weight"};
  t.stages[0].shares = {0.25, 1};
  t.stages[1].resets_optimizer = true;
  return t;
}

/// An optimizer whose state is there.
void make_state(SmallTraining& t) {
  t.optimizer =
      catalog<Optimizer>().build(fragment<Optimizer>({{"type", "sgd"}, {"momentum", 0.9}}),
                                 group_parameters(t.engine->model(), {}, {}));
  const auto weight = t.engine->model().named_parameters().front().tensor;
  weight.mutable_grad() = at::ones_like(weight);
  t.optimizer->step({0.1});
  ASSERT_FALSE(t.optimizer->state().empty());
}

TEST(Stage, IsEnteredOnce) {
  auto world = single_world();
  auto t = in_two_stages(world);
  std::vector<std::int64_t> stages;
  std::int64_t stage = -1;
  for (std::int64_t step = 0; step < 6; ++step)
    stages.push_back(stage = enter_stage(t, step, stage));
  EXPECT_THAT(stages, ElementsAre(0, 0, 0, 1, 1, 1));
  const auto& frozen = engine_of(t).frozen;
  ASSERT_THAT(frozen, SizeIs(2));
  EXPECT_THAT(frozen[0].parameters, ElementsAre("weight"));
  EXPECT_THAT(frozen[1].parameters, IsEmpty());
}

TEST(Stage, IsEnteredInItsMiddleByAResumedRun) {
  auto world = single_world();
  auto t = in_two_stages(world);
  make_state(t);
  EXPECT_EQ(enter_stage(t, 4, -1), 1);
  EXPECT_THAT(engine_of(t).frozen, SizeIs(1));
  EXPECT_FALSE(t.optimizer->state().empty());  // what was built up since its beginning
}

TEST(Stage, ResetsTheOptimizerWhereItBegins) {
  auto world = single_world();
  auto t = in_two_stages(world);
  make_state(t);
  EXPECT_EQ(enter_stage(t, 3, 0), 1);
  EXPECT_TRUE(t.optimizer->state().empty());
}

TEST(Stage, LeavesTheEngineAloneWhereNothingIsEverFrozen) {
  auto world = single_world();
  auto t = in_two_stages(world);
  t.stages[0].frozen = {};
  EXPECT_EQ(enter_stage(t, 0, -1), 0);
  EXPECT_EQ(enter_stage(t, 3, 0), 1);
  EXPECT_THAT(engine_of(t).frozen, IsEmpty());
}

TEST(Stage, SharesTheRateAmongLayerGroupsAndCallbacksScaleIt) {
  auto world = single_world();
  auto t = in_two_stages(world);
  t.state.position.step = 2;
  auto rates = rates_of(t, t.state);
  EXPECT_EQ(rates.lr, 0.5);
  EXPECT_THAT(rates.shares, ElementsAre(0.25, 1));
  t.state.position.step = 3;
  t.state.lr_factor = 0.5;
  rates = rates_of(t, t.state);
  EXPECT_EQ(rates.lr, 0.25);
  EXPECT_THAT(rates.shares, IsEmpty());
}

}  // namespace
}  // namespace ddptrain
