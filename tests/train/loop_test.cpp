// How a run ends: its average gets statistics of its own whatever ended it, and what a signal cut
// off is made up for.
#include "train/loop.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <signal.h>

#include "checkpoint/checkpoint.h"
#include "small_training.h"
#include "support/temporary_folder.h"
#include "train/evaluate.h"
#include "train/state.h"
#include "train/swa.h"

namespace ddptrain {
namespace {

using namespace test;

SmallRun normalised() {
  SmallRun run;
  run.norm = true;
  return run;
}

Training averaging(World& world) {
  auto t = small_training(world, normalised());
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
  t.writers.push_back(std::make_unique<Keeps>(rows));
  const auto result = train(t, {});
  EXPECT_EQ(result.reason, "stopped: enough");
  EXPECT_FALSE(t.ema->buffers().empty());
  ASSERT_EQ(rows.size(), 1U);  // one row, with these statistics
  EXPECT_EQ(rows[0].first, 3);
  EXPECT_EQ(rows[0].second, t.last_evaluation);
  t.ema->set_buffers({});
  EXPECT_NE(value(rows[0].second, "valid_swa/loss"), value(evaluate(t).values, "valid_swa/loss"));
}

/// A run of six steps that gets SIGTERM in the last, then as often as asked resumed.
void interrupt_the_last_step(const std::string& folder) {
  auto world = single_world();
  auto t = averaging(world);
  Hooks hooks;
  hooks.checkpoints = folder;
  hooks.stop_requested = [&] {
    return StopRequest{t.position.step == t.length.total ? SIGTERM : 0, 0};
  };
  const auto result = train(t, hooks);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_TRUE(t.ema->buffers().empty());  // it leaves at once
}

Checkpoint newest(const std::string& folder) {
  std::vector<std::string> notes;
  return load_checkpoint(newest_checkpoint(folder, notes).value());
}

Keeps::Rows resume(const std::string& folder) {
  auto world = single_world();
  auto t = averaging(world);
  Keeps::Rows rows;
  t.writers.push_back(std::make_unique<Keeps>(rows));
  restore(t, newest(folder));
  Hooks hooks;
  hooks.checkpoints = folder;
  EXPECT_EQ(train(t, hooks).reason, "done");
  return rows;
}

void expect_equal(const Checkpoint& actual, const Checkpoint& expected) {
  EXPECT_EQ(actual.state, expected.state);
  ASSERT_EQ(actual.ema.size(), expected.ema.size());
  for (std::size_t i = 0; i < expected.ema.size(); ++i)
    EXPECT_TRUE(at::equal(actual.ema[i].tensor, expected.ema[i].tensor)) << expected.ema[i].name;
}

TEST(EndOfTraining, IsMadeUpForAfterASignalInTheLastStep) {
  const TemporaryFolder whole, cut;
  {
    auto world = single_world();
    auto t = averaging(world);
    Hooks hooks;
    hooks.checkpoints = whole.path();
    train(t, hooks);
  }
  interrupt_the_last_step(cut.path());
  EXPECT_EQ(resume(cut.path()).size(), 1U);
  expect_equal(newest(cut.path()), newest(whole.path()));
  EXPECT_TRUE(resume(cut.path()).empty());  // nothing is left to do
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
  t.writers.push_back(std::make_unique<Norms>(norms));
  train(t, {});
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
