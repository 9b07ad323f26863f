// An optimizer's state that is on other ranks than the parameters: saved as one rank would save it,
// and restored on any number of ranks.
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "train/sharded_optimizer.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;

struct RanksRun {
  nlohmann::json optimizer;
  int ranks = 2;
  bool sharded = true;
  std::int64_t steps = 6;
  const Checkpoint* from = nullptr;
};

std::vector<NamedTensor> cloned(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> made;
  for (const auto& [name, tensor] : tensors) made.push_back({name, tensor.detach().clone()});
  return made;
}

SmallTraining training_of(World& world, const RanksRun& run) {
  auto t = small_training(world, {.mode = Mode::ddp, .epochs = 4});
  const auto groups = group_parameters(t.engine->model(), {}, {});
  if (run.sharded)
    t.optimizer = std::make_unique<ShardedOptimizer>(run.optimizer, groups, world);
  else
    t.optimizer = catalog<Optimizer>().build(fragment<Optimizer>(run.optimizer), groups);
  if (run.from) restore(t, *run.from);
  return t;
}

/// What rank 0 would write after as many steps, whether they were made now or before `from`.
Checkpoint checkpoint_of(const RanksRun& run) {
  Checkpoint checkpoint;
  play_all(run.ranks, [&](World& world) {
    auto t = training_of(world, run);
    t.length.total = run.steps;
    Hooks hooks;
    hooks.evaluate = false;
    ddptrain::train(t, t.state, hooks);
    const auto captured = capture(t);
    EXPECT_EQ(captured.state.empty(), world.rank != 0);
    EXPECT_EQ(captured.model.empty(), world.rank != 0);
    if (world.rank != 0) return;
    checkpoint = captured;
    checkpoint.model = cloned(captured.model);
    checkpoint.optimizer = cloned(captured.optimizer);
  });
  return checkpoint;
}

void expect_the_same(std::vector<NamedTensor> actual, std::vector<NamedTensor> expected,
                     bool in_order = true) {
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  if (!in_order) {
    std::sort(actual.begin(), actual.end(), by_name);
    std::sort(expected.begin(), expected.end(), by_name);
  }
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(actual[i].name, expected[i].name);
    EXPECT_EQ(actual[i].tensor.scalar_type(), expected[i].tensor.scalar_type());
    EXPECT_TRUE(at::equal(actual[i].tensor, expected[i].tensor)) << expected[i].name;
  }
}

const nlohmann::json kAdam{{"type", "adam"}, {"lr", 0.01}};

TEST(ShardedState, IsInACheckpointAsOneRankWouldHaveIt) {
  const auto whole = checkpoint_of({kAdam, 2, false});
  ASSERT_EQ(whole.optimizer.size(), 4U * 3);  // two layers with weights and biases
  for (const int ranks : {2, 3}) {
    const auto sharded = checkpoint_of({kAdam, ranks, true});
    expect_the_same(sharded.optimizer, checkpoint_of({kAdam, ranks, false}).optimizer);
    expect_the_same(sharded.model, checkpoint_of({kAdam, ranks, false}).model);
  }
  EXPECT_EQ(checkpoint_of({kAdam, 2, true}).state, whole.state);
}

// ranger's slow weights, and a number of steps that is of no parameter.
TEST(ShardedState, MayBeOfSeveralKinds) {
  const nlohmann::json ranger{{"type", "ranger"}, {"lr", 0.01}, {"k", 4}};
  const auto whole = checkpoint_of({ranger, 2, false});
  const auto sharded = checkpoint_of({ranger, 2, true});
  expect_the_same(sharded.model, whole.model);
  expect_the_same(sharded.optimizer, whole.optimizer, false);
  expect_the_same(checkpoint_of({ranger, 2, true, 9, &sharded}).model,
                  checkpoint_of({ranger, 2, false, 9}).model);
}

TEST(ShardedState, IsRestoredOnAsManyRanksExactly) {
  const auto uninterrupted = checkpoint_of({kAdam, 2, true, 9});
  const auto half = checkpoint_of({kAdam, 2, true, 4});  // inside an epoch
  const auto resumed = checkpoint_of({kAdam, 2, true, 9, &half});
  expect_the_same(resumed.model, uninterrupted.model);
  expect_the_same(resumed.optimizer, uninterrupted.optimizer);
  EXPECT_EQ(resumed.state, uninterrupted.state);
}

TEST(ShardedState, IsRestoredOnOneRankAndFromOneExactly) {
  const auto half = checkpoint_of({kAdam, 2, true, 4});
  const auto unsharded = checkpoint_of({kAdam, 2, false, 4});
  expect_the_same(checkpoint_of({kAdam, 1, false, 4, &half}).optimizer, unsharded.optimizer);
  expect_the_same(checkpoint_of({kAdam, 1, false, 9, &half}).model,
                  checkpoint_of({kAdam, 1, false, 9, &unsharded}).model);
  expect_the_same(checkpoint_of({kAdam, 2, true, 9, &unsharded}).model,
                  checkpoint_of({kAdam, 2, false, 9}).model);
}

TEST(ShardedState, OfAnUnknownParameterIsRefusedOnAllRanks) {
  auto half = checkpoint_of({kAdam, 2, true, 4});
  half.optimizer.push_back({"fc.exp_avg", at::empty({1})});
  const auto thrown = play(make_thread_worlds(2), [&](World& world) {
    training_of(world, {kAdam, 2, true, 9, &half});
  });
  for (const auto& error : thrown)
    EXPECT_EQ(message_of(error),
              "optimizer state 'fc.exp_avg' belongs to no parameter, or to another optimizer");
}

}  // namespace
}  // namespace ddptrain
