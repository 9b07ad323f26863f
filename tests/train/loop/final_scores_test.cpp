// Samples that evaluations score too, and those that are scored once, when a run is complete.
#include "train/loop/final_scores.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

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
  EXPECT_EQ(result.weights.step, t.length.total);
  EXPECT_EQ(result.test->values.size(), 1U);
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
  const auto expected = train(alone, hooks).test->values;
  const auto evaluated = evaluate(alone).values;
  for (const int ranks : {2, 3})
    play_all(ranks, [&](World& several) {
      auto t = tested(several);
      restore(t, newest(folder.path()));
      EXPECT_EQ(evaluate(t).values, evaluated);
      EXPECT_EQ(train(t).test->values, expected);  // nothing is left to train
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
  EXPECT_EQ(result.weights.step, t.state.best->step);
  auto other = tested(world);
  restore(other, load_checkpoint(folder.path() + "/" + checkpoint_name(t.state.best->step)));
  const auto scored = evaluate_unless(other, {}, {}, Evaluated::test);
  EXPECT_EQ(result.test->values, scored->values);
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
    return train(t, hooks).test->values;
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

/// What observers hear of the end of a run.
class Conclusions final : public Callback {
 public:
  struct Heard {
    std::int64_t batches = 0;  // scored, of all evaluations
    std::vector<RunView> concluded;
  };
  explicit Conclusions(Heard& heard) : heard_(heard) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::evaluating) ++heard_.batches;
    if (moment == Moment::concluded) heard_.concluded.push_back(run);
  }

 private:
  Heard& heard_;
};

/// Evaluates after each step, with a confusion matrix. The largest loss is one of the first, since
/// it becomes smaller.
SmallTraining judged(World& world, BestMode mode) {
  SmallRun run;
  run.mode = world.size > 1 ? Mode::ddp : Mode::none;
  auto t = small_training(world, run);
  MetricContext context;
  context.classes = {"a", "b", "c"};
  t.metrics.push_back(catalog<Metric>().build(Choice<Metric>("confusion_matrix"), context));
  t.recipe.eval.every = {1, Duration::Unit::steps};
  t.recipe.checkpoint.every = {1, Duration::Unit::steps};
  t.recipe.checkpoint.keep_best = KeepBestSpec{"valid/loss", mode};
  return t;
}

Evaluation of_checkpoint(World& world, const std::string& folder) {
  auto t = judged(world, BestMode::max);
  restore(t, load_checkpoint(folder));
  return evaluate(t);
}

TEST(ResultOfARun, IsScoredWithTheBestWeightsOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3}) {
    const TemporaryFolder folder;
    RunResult result;
    Conclusions::Heard heard;
    std::int64_t best = 0;
    play_all(ranks, [&](World& world) {
      auto t = judged(world, BestMode::max);
      if (world.rank == 0) t.observers.push_back(std::make_unique<Conclusions>(heard));
      Hooks hooks;
      hooks.checkpoints = folder.path();
      auto found = train(t, hooks);
      if (world.rank == 0) result = std::move(found), best = t.state.best->step;
    });
    EXPECT_LT(best, 6);
    EXPECT_EQ(to_text(result.weights), "best weights, step " + std::to_string(best));
    auto world = single_world();
    const auto alone = of_checkpoint(world, folder.path() + "/" + checkpoint_name(best));
    EXPECT_EQ(result.scored.values, alone.values);
    ASSERT_FALSE(alone.tables.empty());
    for (std::size_t i = 0; i < alone.tables.size(); ++i) {
      EXPECT_EQ(result.scored.tables.at(i).cells, alone.tables[i].cells);
      EXPECT_EQ(result.scored.tables[i].weights.step, best);
    }
    ASSERT_EQ(result.scored.samples.size(), alone.samples.size());
    for (std::size_t i = 0; i < alone.samples.size(); ++i)
      EXPECT_EQ(result.scored.samples[i].loss, alone.samples[i].loss);
    ASSERT_EQ(heard.concluded.size(), 1U);
    EXPECT_EQ(heard.concluded[0].metrics, alone.values);
  }
}

TEST(ResultOfARun, IsNotScoredAgainWhereTheLastIsTheBest) {
  const TemporaryFolder folder;
  auto world = single_world();
  auto t = judged(world, BestMode::min);
  t.recipe.eval.every = {6, Duration::Unit::steps};
  Conclusions::Heard heard;
  t.observers.push_back(std::make_unique<Conclusions>(heard));
  Hooks hooks;
  hooks.checkpoints = folder.path();
  const auto result = train(t, hooks);
  ASSERT_EQ(t.state.best->step, t.length.total);
  EXPECT_EQ(to_text(result.weights), "best and last weights, step 6");
  EXPECT_EQ(heard.batches, evaluation_calls(t));
  EXPECT_EQ(result.scored.tables.at(0).weights.name, "best and last weights");
  // The process that resumes it has not made the last evaluation.
  auto again = judged(world, BestMode::min);
  restore(again, newest(folder.path()));
  const auto resumed = train(again, hooks);
  EXPECT_EQ(resumed.scored.tables.at(0).cells, result.scored.tables.at(0).cells);
}

TEST(ResultOfARun, ThatWasInterruptedIsItsLastEvaluation) {
  const TemporaryFolder folder;
  auto world = single_world();
  auto t = judged(world, BestMode::max);
  Hooks hooks;
  hooks.checkpoints = folder.path();
  hooks.stop_requested = [&] { return StopRequest{t.state.position.step == 3 ? SIGTERM : 0, 0}; };
  const auto result = train(t, hooks);
  EXPECT_EQ(result.reason, "interrupted");
  EXPECT_EQ(to_text(result.weights), "last evaluation, step 2");
  EXPECT_EQ(result.scored.tables.at(0).weights.name, "last evaluation");
}

TEST(ResultOfARun, IsOfTheLastWeightsWhereTheBestAreGone) {
  const TemporaryFolder folder;
  auto world = single_world();
  auto t = judged(world, BestMode::max);
  Hooks hooks;
  hooks.checkpoints = folder.path();
  hooks.beat = [&](std::int64_t step, const char*) {
    if (step == 5)
      std::filesystem::remove_all(folder.path() + "/" + checkpoint_name(t.state.best->step));
  };
  const auto result = train(t, hooks);
  EXPECT_EQ(to_text(result.weights), "last weights, step 6");
}

}  // namespace
}  // namespace ddptrain
