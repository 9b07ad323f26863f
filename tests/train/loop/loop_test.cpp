// How a run ends: its average gets statistics of its own whatever ended it, and what a signal cut
// off is made up for.
#include "train/loop/loop.h"

#include <gmock/gmock.h>
#include <signal.h>

#include "base/error.h"
#include "support/temporary_folder.h"
#include "train/finished_run.h"
#include "train/step/evaluate.h"
#include "train/step/swa.h"

namespace ddptrain {
namespace {

using namespace test;

SmallTraining averaging(World& world) {
  auto run = normalized();
  if (world.size > 1) run.mode = Mode::ddp;
  auto t = small_training(world, run);
  t.recipe.train.swa.emplace();
  t.recipe.train.swa->start = {1, Duration::Unit::steps};
  t.recipe.train.swa->every = {1, Duration::Unit::steps};
  t.ema = std::make_unique<Ema>(t.engine->model().named_parameters(),
                                EmaOptions{.type = Averaging::swa});
  return t;
}

/// Asks for an end at the evaluation after a step.
class StopsAt final : public Callback {
 public:
  explicit StopsAt(std::int64_t step) : step_(step) {}
  void at(Moment moment, const RunView& run, RunControl& control) override {
    if (moment == Moment::evaluated && run.step == step_) control.stop = "enough";
  }

 private:
  std::int64_t step_;
};

double value(const NamedValues& values, const std::string& name) {
  for (const auto& [known, number] : values)
    if (known == name) return number;
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(EndOfTraining, GivesTheAverageStatisticsWhenACallbackStopsIt) {
  auto world = single_world();
  auto t = averaging(world);
  Keeps::Rows rows;
  t.callbacks.push_back(std::make_unique<StopsAt>(3));
  t.recipe.callbacks.emplace_back(fragment<Callback>("early_stopping"));
  t.observers.push_back(std::make_unique<Keeps>(rows));
  const auto result = train(t);
  EXPECT_EQ(result.reason, "stopped: enough");
  EXPECT_FALSE(t.ema->buffers().empty());
  ASSERT_EQ(rows.size(), 1U);  // one row, with these statistics
  EXPECT_EQ(rows[0].first, 3);
  EXPECT_EQ(rows[0].second, t.state.evaluation);
  t.ema->set_buffers({});
  EXPECT_NE(value(rows[0].second, "valid_swa/loss"), value(evaluate(t).values, "valid_swa/loss"));
}

using IsAsked = std::function<bool(const SmallTraining&, const std::string& phase)>;

/// A run that gets SIGTERM where `asked` says so.
Keeps::Rows interrupt(World& world, const std::string& folder, const Make& make,
                      const IsAsked& asked) {
  auto t = make(world);
  Keeps::Rows rows;
  t.observers.push_back(std::make_unique<Keeps>(rows));
  std::string phase;
  Hooks hooks;
  hooks.checkpoints = folder;
  hooks.beat = [&](std::int64_t, const char* now) { phase = now; };
  hooks.stop_requested = [&] { return StopRequest{asked(t, phase) ? SIGTERM : 0, 0}; };
  const auto result = train(t, hooks);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(result.reason, "interrupted");
  EXPECT_TRUE(!t.ema || t.ema->buffers().empty());  // it leaves at once
  return rows;
}

/// A run that is interrupted and resumed comes to what one comes to that is not, with one row for
/// each evaluation.
void expect_resumed(const Make& make, const IsAsked& asked) {
  const TemporaryFolder whole, cut;
  const auto expected = finish(whole.path(), make);
  auto world = single_world();
  auto rows = interrupt(world, cut.path(), make, asked);
  const auto later = finish(cut.path(), make);
  rows.insert(rows.end(), later.begin(), later.end());
  EXPECT_EQ(rows, expected);
  expect_equal(newest(cut.path()), newest(whole.path()));
  EXPECT_TRUE(finish(cut.path(), make).empty());  // nothing is left to do
}

TEST(EndOfTraining, IsMadeUpForAfterASignalInTheLastStep) {
  expect_resumed(averaging, [](const SmallTraining& t, const std::string&) {
    return t.state.position.step == t.length.total;
  });
}

// The pass over the training set is the first part of the last evaluation.
TEST(EndOfTraining, IsMadeUpForAfterASignalWhileStatisticsAreMeasured) {
  const auto asked = [](const SmallTraining& t, const std::string& phase) {
    return t.state.position.step == t.length.total && phase == "evaluation";
  };
  expect_resumed(averaging, asked);
}

TEST(EndOfTraining, LeavesTheMeasuringOfStatisticsOnAllRanksWhenOneIsAsked) {
  const TemporaryFolder whole, cut;
  play_all(2, [&](World& world) {
    auto t = averaging(world);
    Hooks hooks;
    hooks.checkpoints = whole.path();
    EXPECT_EQ(train(t, hooks).reason, "done");
  });
  play_all(2, [&](World& world) {
    interrupt(world, cut.path(), averaging, [&](const SmallTraining& t, const std::string& phase) {
      return world.rank == 1 && t.state.position.step == t.length.total && phase == "evaluation";
    });
  });
  play_all(2, [&](World& world) {
    auto t = averaging(world);
    restore(t, newest(cut.path()));
    world.control->barrier();
    Hooks hooks;
    hooks.checkpoints = cut.path();
    EXPECT_EQ(train(t, hooks).reason, "done");
  });
  expect_equal(newest(cut.path()), newest(whole.path()));
}

SmallTraining evaluating_each_step(World& world) {
  auto t = averaging(world);
  t.recipe.eval.every = {1, Duration::Unit::steps};
  return t;
}

// A pause is no end: nothing is measured or averaged that would not have been.
TEST(Pause, LeavesARunThatComesToTheSame) {
  const TemporaryFolder whole, paused;
  const auto expected = finish(whole.path(), evaluating_each_step);
  auto world = single_world();
  auto t = evaluating_each_step(world);
  Keeps::Rows rows;
  t.observers.push_back(std::make_unique<Keeps>(rows));
  Hooks hooks;
  hooks.checkpoints = paused.path();
  hooks.pause_at = 2;
  EXPECT_EQ(train(t, hooks).reason, kPaused);
  EXPECT_EQ(t.state.position.step, 2);
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_TRUE(t.ema->buffers().empty());
  const auto later = finish(paused.path(), evaluating_each_step);
  rows.insert(rows.end(), later.begin(), later.end());
  EXPECT_EQ(rows, expected);
  expect_equal(newest(paused.path()), newest(whole.path()));
}

/// Whose second evaluation is its last.
SmallTraining stopping_early(World& world) {
  auto t = averaging(world);
  t.recipe.eval.every = {1, Duration::Unit::steps};
  const auto spec =
      fragment<Callback>({{"type", "early_stopping"}, {"min_delta", 100}, {"patience", 1}});
  t.recipe.callbacks.push_back(spec);
  t.callbacks.push_back(catalog<Callback>().build(spec));
  return t;
}

// The callback has counted the evaluation that is repeated with the average's statistics.
TEST(EndOfTraining, IsMadeUpForAfterASignalThatFollowsTheStopOfACallback) {
  expect_resumed(stopping_early, [](const SmallTraining& t, const std::string&) {
    return t.state.stop.has_value();
  });
}

class EvaluationEvery : public testing::TestWithParam<Duration> {};

TEST_P(EvaluationEvery, IsRepeatedWhereASignalEndedItWhateverItsUnit) {
  const auto make = [](World& world) {
    auto t = small_training(world, {});
    t.recipe.eval.every = GetParam();
    return t;
  };
  expect_resumed(make, [](const SmallTraining& t, const std::string& phase) {
    return t.state.position.step == 3 && phase == "evaluation";
  });
}

// Every step or every third; any time has passed after a step.
INSTANTIATE_TEST_SUITE_P(Units, EvaluationEvery,
                         testing::Values(Duration{1, Duration::Unit::steps},
                                         Duration{1, Duration::Unit::epochs},
                                         Duration{8, Duration::Unit::samples},
                                         Duration{0.5, Duration::Unit::share},
                                         Duration{1e-9, Duration::Unit::seconds}));

TEST(EndOfTraining, RecordsTheGradientNormOfStepsThatAreLogged) {
  auto world = single_world();
  auto t = small_training(world, {});
  t.recipe.log.every = {2, Duration::Unit::steps};
  struct Norms final : Callback {
    explicit Norms(std::vector<double>& kept) : norms(kept) {}
    void at(Moment moment, const RunView& run, RunControl&) override {
      if (moment == Moment::step_end) norms.push_back(run.gradient_norm);
    }
    std::vector<double>& norms;
  };
  std::vector<double> norms;
  t.observers.push_back(std::make_unique<Norms>(norms));
  train(t);
  ASSERT_EQ(norms.size(), 6U);
  for (std::size_t i = 0; i < norms.size(); ++i) {
    if (i % 2 == 0)
      EXPECT_TRUE(std::isnan(norms[i])) << i;
    else
      EXPECT_GT(norms[i], 0) << i;
  }
}

}  // namespace
}  // namespace ddptrain
