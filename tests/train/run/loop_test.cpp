// How a run ends: its average gets statistics of its own whatever ended it, and what a signal cut
// off is made up for.
#include "train/run/loop.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "checkpoint/checkpoint.h"
#include "data/files/mapped_file.h"
#include "launch/failure.h"
#include "support/temporary_folder.h"
#include "train/run/state.h"
#include "train/small_training.h"
#include "train/step/evaluate.h"
#include "train/step/swa.h"

namespace ddptrain {
namespace {

using namespace test;

SmallRun normalised() {
  SmallRun run;
  run.norm = true;
  return run;
}

SmallTraining averaging(World& world) {
  auto run = normalised();
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

/// Keeps what evaluations gave.
class Keeps final : public Callback {
 public:
  using Rows = std::vector<std::pair<std::int64_t, NamedValues>>;
  explicit Keeps(Rows& rows) : rows_(rows) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::evaluated) rows_.emplace_back(run.step, run.metrics);
  }

 private:
  Rows& rows_;
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

using Make = std::function<SmallTraining(World&)>;
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

Checkpoint newest(const std::string& folder) {
  std::vector<std::string> notes;
  return load_checkpoint(newest_checkpoint(folder, notes).value());
}

/// A run to its end, from the newest checkpoint in the folder where there is one.
Keeps::Rows finish(const std::string& folder, const Make& make) {
  auto world = single_world();
  auto t = make(world);
  Keeps::Rows rows;
  t.observers.push_back(std::make_unique<Keeps>(rows));
  std::vector<std::string> notes;
  if (const auto from = newest_checkpoint(folder, notes)) restore(t, load_checkpoint(*from));
  Hooks hooks;
  hooks.checkpoints = folder;
  EXPECT_EQ(train(t, hooks).signal, 0);
  return rows;
}

void expect_equal(const Checkpoint& actual, const Checkpoint& expected) {
  EXPECT_EQ(actual.state, expected.state);
  ASSERT_EQ(actual.ema.size(), expected.ema.size());
  for (std::size_t i = 0; i < expected.ema.size(); ++i)
    EXPECT_TRUE(at::equal(actual.ema[i].tensor, expected.ema[i].tensor)) << expected.ema[i].name;
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

/// Sample i of the validation split is read from page i of a mapped file of zeros.
class MappedSamples final : public DrawnSamples {
 public:
  explicit MappedSamples(const std::string& path) : DrawnSamples(23, {}), file_(path) {}
  bool load(Split split, std::int64_t index, const Draw& draw, Batch& batch,
            std::int64_t row) const override {
    const auto page = static_cast<std::size_t>(index) * kPage;
    if (split == Split::valid && file_.bytes()[page] != 0) return false;
    return DrawnSamples::load(split, index, draw, batch, row);
  }
  static constexpr std::size_t kPage = 4096;

 private:
  MappedFile file_;
};

SmallTraining mapped_training(World& world, const std::string& path) {
  SmallRun run;
  if (world.size > 1) run.mode = Mode::ddp;
  auto t = small_training(world, run);
  t.data = std::make_unique<MappedSamples>(path);
  t.loader = make_loader(*t.data, {.workers = 0});
  t.valid_loader = make_loader(*t.data, {.split = Split::valid, .workers = 0});
  return t;
}

/// Cuts the file as the first evaluation begins. Not to return: what was lost is lost for good.
[[noreturn]] void lose_file_in_evaluation(int ranks, const std::string& path,
                                          const std::string& folder) {
  const auto thrown = play(make_thread_worlds(ranks), [&](World& world) {
    auto t = mapped_training(world, path);
    Hooks hooks;
    hooks.checkpoints = folder;
    hooks.beat = [&](std::int64_t, const char* phase) {
      if (world.rank == 0 && phase == std::string("evaluation"))
        std::filesystem::resize_file(path, 0);
    };
    train(t, hooks);
  });
  for (const auto& error : thrown) std::cerr << message_of(error) << std::endl;
  std::_Exit(failure_of(thrown.back(), 0).code == Exit::data ? 3 : 70);
}

TEST(LostFileDeathTest, IsSavedFromWhereItIsFirstSeenInAnEvaluation) {
  for (const int ranks : {1, 2}) {
    const TemporaryFolder whole, cut;
    const std::string zeros(23 * MappedSamples::kPage, '\0');
    const auto path = whole.write("samples", zeros);
    const auto make = [&](World& world) { return mapped_training(world, path); };
    const auto expected = finish(whole.path(), make);
    EXPECT_EXIT(lose_file_in_evaluation(ranks, path, cut.path()), testing::ExitedWithCode(3),
                "samples' was cut");
    EXPECT_EQ(newest(cut.path()).step, 3);
    whole.write("samples", zeros);
    EXPECT_THAT(finish(cut.path(), make), testing::SizeIs(expected.size()));
    if (ranks == 1) expect_equal(newest(cut.path()), newest(whole.path()));
  }
}

TEST(LostFileDeathTest, EndsAnEvaluationByItself) {
  const TemporaryFolder folder;
  const auto path = folder.write("samples", std::string(23 * MappedSamples::kPage, '\0'));
  const auto lose = [&] {
    at::set_num_threads(1);
    auto world = single_world();
    auto t = mapped_training(world, path);
    std::filesystem::resize_file(path, 0);
    try {
      evaluate(t);
    } catch (const Error& error) {
      std::cerr << error.what() << std::endl;
      std::_Exit(static_cast<int>(error.code()));
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(lose(), testing::ExitedWithCode(3), "samples' was cut");
}

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
