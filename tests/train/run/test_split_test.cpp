// Samples that evaluations score too, and those that are scored once, when a run is complete.
#include "train/run/test_split.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "support/temporary_folder.h"
#include "train/finished_run.h"
#include "train/step/evaluate.h"

namespace ddptrain {
namespace {

using namespace test;

/// Samples 0 to `size`, in a split of their own.
ScoredSplit drawn(const std::string& name, std::int64_t size) {
  ScoredSplit split{name, std::make_unique<DrawnSamples>(size, std::set<std::int64_t>()), nullptr};
  split.loader = make_loader(*split.data, {.split = Split::valid, .workers = 0});
  return split;
}

SmallTraining tested(World& world) {
  SmallRun run;
  run.mode = world.size > 1 ? Mode::ddp : Mode::none;
  auto t = small_training(world, run);
  t.splits.push_back(drawn("few", 9));
  t.test.push_back(drawn("test", 50));
  t.recipe.eval.every = {1, Duration::Unit::steps};
  t.recipe.checkpoint.every = {1, Duration::Unit::steps};
  return t;
}

double score_of(const NamedValues& values, const std::string& name) {
  for (const auto& [known, number] : values)
    if (known == name) return number;
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(TestSplit, IsScoredOnceAfterAllEvaluations) {
  auto world = single_world();
  auto t = tested(world);
  Keeps::Rows rows;
  t.observers.push_back(std::make_unique<Keeps>(rows));
  const auto result = train(t);
  ASSERT_TRUE(result.test);
  EXPECT_EQ(result.test->step, t.length.total);
  EXPECT_EQ(result.test->found.values.size(), 1U);
  for (const auto& [step, row] : rows) {
    ASSERT_EQ(row.size(), 2U) << step;
    EXPECT_EQ(row[0].first, "valid/loss");
    EXPECT_EQ(row[1].first, "few/loss");
  }
  // The same samples as the validation split give what it gives.
  t.test.front() = drawn("test", t.data->size(Split::valid));
  EXPECT_EQ(score_of(evaluate_unless(t, {}, {}, Evaluated::test)->values, "test/loss"),
            score_of(t.state.evaluation, "valid/loss"));
}

TEST(TestSplit, IsScoredEquallyOnAnyNumberOfRanks) {
  auto world = single_world();
  auto alone = tested(world);
  const TemporaryFolder folder;
  Hooks hooks;
  hooks.checkpoints = folder.path();
  const auto expected = train(alone, hooks).test->found.values;
  const auto evaluated = evaluate(alone).values;
  for (const int ranks : {2, 3})
    play_all(ranks, [&](World& several) {
      auto t = tested(several);
      restore(t, newest(folder.path()));
      EXPECT_EQ(evaluate(t).values, evaluated);
      EXPECT_EQ(train(t).test->found.values, expected);  // nothing is left to train
    });
}

TEST(TestSplit, TakesTheBestWeightsThatAreKept) {
  const TemporaryFolder folder;
  auto world = single_world();
  auto t = tested(world);
  t.recipe.checkpoint.keep_best =
      KeepBestSpec{"few/loss", BestMode::max};  // the first, as it learns
  Hooks hooks;
  hooks.checkpoints = folder.path();
  const auto result = train(t, hooks);
  ASSERT_TRUE(result.test && t.state.best);
  ASSERT_LT(t.state.best->step, t.length.total);
  EXPECT_EQ(result.test->step, t.state.best->step);
  auto other = tested(world);
  restore(other, load_checkpoint(folder.path() + "/" + checkpoint_name(t.state.best->step)));
  const auto scored = evaluate_unless(other, {}, {}, Evaluated::test);
  EXPECT_EQ(result.test->found.values, scored->values);
}

TEST(TestSplit, IsScoredByTheResumedRunWhereASignalCameDuringIt) {
  const TemporaryFolder whole, cut;
  const auto finish_on = [](World& world, const std::string& folder) {
    auto t = tested(world);
    std::vector<std::string> notes;
    if (const auto from = newest_checkpoint(folder, notes)) restore(t, load_checkpoint(*from));
    world.control->barrier();
    Hooks hooks;
    hooks.checkpoints = folder;
    return train(t, hooks).test->found.values;
  };
  NamedValues expected;
  play_all(2, [&](World& world) {
    const auto values = finish_on(world, whole.path());
    if (world.rank == 0) expected = values;
  });
  play_all(2, [&](World& world) {
    auto t = tested(world);
    std::string phase;
    Hooks hooks;
    hooks.checkpoints = cut.path();
    hooks.beat = [&](std::int64_t, const char* now) { phase = now; };
    hooks.stop_requested = [&] {
      return StopRequest{world.rank == 1 && phase == "test" ? SIGTERM : 0, 0};
    };
    const auto result = train(t, hooks);
    EXPECT_EQ(result.signal, SIGTERM);
    EXPECT_EQ(result.reason, "interrupted");
    EXPECT_FALSE(result.test);
    EXPECT_EQ(t.state.position.step, t.length.total);
  });
  play_all(2, [&](World& world) { EXPECT_EQ(finish_on(world, cut.path()), expected); });
  expect_equal(newest(cut.path()), newest(whole.path()));
}

TEST(TestSplit, IsNotScoredByARunThatIsInterrupted) {
  auto world = single_world();
  auto t = tested(world);
  Hooks hooks;
  hooks.stop_requested = [&] { return StopRequest{t.state.position.step == 2 ? SIGTERM : 0, 0}; };
  const auto result = train(t, hooks);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_FALSE(result.test);
}

}  // namespace
}  // namespace ddptrain
