// In which order the loop steps, evaluates and saves, and what ends it.
#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "support/temporary_folder.h"
#include "train/around_optimizer.h"
#include "train/fake_training.h"
#include "train/loop/completion.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::Each;
using testing::ElementsAre;

/// What a run goes through, in order, with its checkpoints in a folder.
class Loop : public testing::Test {
 protected:
  Loop() : world_(single_world()), t_(fake_training(world_)) {
    t_.observers.push_back(std::make_unique<Events>(events_));
    hooks_.checkpoints = folder_.path();
  }
  RunResult run() { return train(t_, hooks_); }
  /// Is called at every moment, before the observers.
  void call(std::function<void(Moment, const RunView&, RunControl&)> function) {
    class Calls final : public Callback {
     public:
      explicit Calls(std::function<void(Moment, const RunView&, RunControl&)> body)
          : body_(std::move(body)) {}
      void at(Moment moment, const RunView& view, RunControl& control) override {
        body_(moment, view, control);
      }

     private:
      std::function<void(Moment, const RunView&, RunControl&)> body_;
    };
    t_.recipe.callbacks.push_back(fragment<Callback>("early_stopping"));
    t_.callbacks.push_back(std::make_unique<Calls>(std::move(function)));
  }
  bool has_checkpoint(std::int64_t step) const {
    return std::filesystem::exists(folder_.path() + "/" + checkpoint_name(step));
  }

  const TemporaryFolder folder_;
  World world_;
  SmallTraining t_;
  Hooks hooks_;
  std::vector<std::string> events_;
};

TEST_F(Loop, EvaluatesAndSavesAtTheEnd) {
  EXPECT_EQ(run().reason, "done");
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "step 2", "step 3", "step 4", "step 5",
                                   "step 6", "evaluated 6", "saved 6", "end"));
}

TEST_F(Loop, EvaluatesBeforeItSaves) {
  t_.recipe.eval.every = steps(2);
  t_.recipe.checkpoint.every = epochs(1);
  run();
  EXPECT_THAT(events_,
              ElementsAre("begin", "step 1", "step 2", "evaluated 2", "step 3", "saved 3", "step 4",
                          "evaluated 4", "step 5", "step 6", "evaluated 6", "saved 6", "end"));
}

TEST_F(Loop, SavesToTheDisksOfNodesInBetween) {
  t_.recipe.checkpoint.every = steps(3);
  t_.recipe.checkpoint.local = LocalCheckpointSpec{"", steps(1)};
  hooks_.evaluate = false;
  hooks_.local_checkpoints = folder_ / "local";
  run();
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "step 2", "step 3", "saved 3", "step 4",
                                   "step 5", "step 6", "saved 6", "end"));
  std::vector<std::string> names;
  for (const auto& each : list_checkpoints(hooks_.local_checkpoints))
    names.push_back(std::filesystem::path(each).filename());
  EXPECT_THAT(names, ElementsAre("step-00000004", "step-00000005")) << "the last two";
  EXPECT_EQ(load_checkpoint(hooks_.local_checkpoints + "/step-00000005").step, 5);
}

TEST_F(Loop, EvaluatesNowhereWhereNobodyWantsIt) {
  t_.recipe.eval.every = steps(1);
  hooks_.evaluate = false;
  hooks_.checkpoints.clear();
  run();
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "step 2", "step 3", "step 4", "step 5",
                                   "step 6", "end"));
}

TEST_F(Loop, SavesTheBestEvaluationAtOnceAndKeepsIt) {
  t_.recipe.eval.every = steps(2);
  t_.recipe.checkpoint.keep_last = 1;
  t_.recipe.checkpoint.keep_best = KeepBestSpec{"score", BestMode::max};
  t_.metrics.clear();
  t_.metrics.push_back(std::make_unique<Scripted>(std::vector{0.5, 0.75, 0.625}));
  run();
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "step 2", "evaluated 2", "saved 2", "step 3",
                                   "step 4", "evaluated 4", "saved 4", "step 5", "step 6",
                                   "evaluated 6", "saved 6", "end"));
  ASSERT_TRUE(t_.state.best);
  EXPECT_EQ(t_.state.best->value, 0.75);
  EXPECT_EQ(t_.state.best->step, 4);
  EXPECT_FALSE(has_checkpoint(2));
  EXPECT_TRUE(has_checkpoint(4));
  EXPECT_TRUE(has_checkpoint(6));
  EXPECT_EQ(std::filesystem::read_symlink(folder_.path() + "/best").filename(), checkpoint_name(4));
}

TEST_F(Loop, DoesNotSaveWhatIsNoBetterThanBeforeAResume) {
  t_.recipe.eval.every = steps(2);
  t_.recipe.checkpoint.keep_best = KeepBestSpec{"score", BestMode::max};
  t_.state.best = {0.5, 1};
  t_.metrics.clear();
  t_.metrics.push_back(std::make_unique<Scripted>(std::vector{0.25, 0.5, 0.75}));
  run();
  EXPECT_THAT(events_,
              ElementsAre("begin", "step 1", "step 2", "evaluated 2", "step 3", "step 4",
                          "evaluated 4", "step 5", "step 6", "evaluated 6", "saved 6", "end"));
  EXPECT_EQ(t_.state.best->step, 6);
}

TEST_F(Loop, EndsWithAnEvaluationAndACheckpointWhereACallbackStopsIt) {
  call([](Moment moment, const RunView& run, RunControl& control) {
    if (moment == Moment::step_end && run.step == 2) control.stop = "enough";
  });
  EXPECT_EQ(run().reason, "stopped: enough");
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "step 2", "evaluated 2", "saved 2", "end"));
  ASSERT_TRUE(t_.state.stop);
  EXPECT_EQ(t_.state.stop->reason, "enough");
  EXPECT_EQ(t_.state.stop->asked, asked_length(t_.recipe));
}

TEST_F(Loop, LetsObserversKnowWhyItStopped) {
  struct Reason final : Callback {
    explicit Reason(std::string& text) : kept(text) {}
    void at(Moment moment, const RunView&, RunControl& control) override {
      if (moment == Moment::run_end) kept = control.stop.value_or("");
    }
    std::string& kept;
  };
  std::string reason;
  t_.observers.push_back(std::make_unique<Reason>(reason));
  call([](Moment moment, const RunView&, RunControl& control) {
    if (moment == Moment::step_end) control.stop = "enough";
  });
  run();
  EXPECT_EQ(reason, "enough");
}

TEST_F(Loop, GoesAtTheRateThatACallbackAskedForFromTheNextStepOn) {
  std::vector<double> rates;
  call([&](Moment moment, const RunView& run, RunControl& control) {
    if (moment != Moment::step_end) return;
    rates.push_back(run.lr);
    control.lr_factor *= 0.5;
  });
  run();
  EXPECT_THAT(rates, ElementsAre(0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125));
  EXPECT_EQ(t_.state.lr_factor, 1.0 / 64);
}

TEST_F(Loop, SavesOnRequest) {
  hooks_.save_requested = [&] { return t_.state.position.step == 2; };
  run();
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "step 2", "saved 2", "step 3", "step 4",
                                   "step 5", "step 6", "evaluated 6", "saved 6", "end"));
}

TEST_F(Loop, SavesAndLeavesWithoutAnEvaluationOnASignal) {
  t_.recipe.eval.every = steps(2);
  hooks_.stop_requested = [&] { return StopRequest{t_.state.position.step == 4 ? SIGTERM : 0, 1}; };
  const auto result = run();
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_EQ(result.reason, "interrupted");
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "step 2", "evaluated 2", "step 3", "step 4",
                                   "saved 4", "end"));
}

TEST_F(Loop, MeasuredInTimeEndsAfterTheStepInWhichItIsUp) {
  t_.recipe.train.duration = {1e-9, Duration::Unit::seconds};
  EXPECT_EQ(run().reason, "done");
  EXPECT_THAT(events_, ElementsAre("begin", "step 1", "evaluated 1", "saved 1", "end"));
  EXPECT_GT(t_.state.position.seconds, 0);
}

TEST_F(Loop, ContinuesInsideAnEpoch) {
  t_.state.position.step = 4;
  t_.state.position.epoch = 1;
  t_.state.position.step_in_epoch = 1;
  t_.state.position.samples = 16;
  run();
  EXPECT_THAT(events_, ElementsAre("begin", "step 5", "step 6", "evaluated 6", "saved 6", "end"));
  const auto& plans = loader_of(t_).plans;
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].epoch, 1);
  ASSERT_EQ(plans[0].micros.size(), 2U);
  EXPECT_THAT(plans[0].micros[0].positions, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(t_.state.position.samples, 24);
  EXPECT_EQ(t_.state.position.epoch, 2);
  EXPECT_EQ(t_.state.position.step_in_epoch, 0);
}

TEST_F(Loop, HasNothingToDoWhereARunIsComplete) {
  t_.state.position.step = t_.state.position.evaluated = 6;
  EXPECT_EQ(run().reason, "done");
  EXPECT_THAT(events_, ElementsAre("begin", "end"));
}

TEST(LoopOfAShortEpoch, CountsTheSamplesThatAreThere) {
  auto world = single_world();
  auto t = fake_training(world, 10);
  train(t);
  EXPECT_EQ(t.state.position.step, 6);
  EXPECT_EQ(t.state.position.samples, 20);
}

TEST(LoopOfSeveralMicroBatches, StepsOnceForAllOfThem) {
  auto world = single_world();
  auto t = fake_training(world);
  t.placement.batch = {4, 2, 2, 1};
  t.length.total = 2;
  train(t);
  const auto& micros = engine_of(t).micros;
  ASSERT_EQ(micros.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(micros[i].step, static_cast<std::int64_t>(i / 2));
    EXPECT_EQ(micros[i].last, i % 2 == 1);
  }
}

struct RankEnd {
  RunResult result;
  std::vector<std::string> events;
};

/// A run of several ranks with the hooks that a test gives each.
std::vector<RankEnd> run_ranks(int ranks,
                               const std::function<void(SmallTraining&, Hooks&)>& prepare) {
  const TemporaryFolder folder;
  std::vector<RankEnd> ends(static_cast<std::size_t>(ranks));
  play_all(ranks, [&](World& world) {
    auto& end = ends[static_cast<std::size_t>(world.rank)];
    auto t = fake_training(world);
    t.observers.push_back(std::make_unique<Events>(end.events));
    Hooks hooks;
    hooks.checkpoints = folder.path();
    prepare(t, hooks);
    end.result = train(t, hooks);
  });
  return ends;
}

// During the second step. SIGTERM came first; 2 and 15 together are not 8.
TEST(LoopOnRanks, LeavesAtTheSameStepWithTheFirstOfTwoSignals) {
  const auto ends = run_ranks(2, [](SmallTraining& t, Hooks& hooks) {
    hooks.stop_requested = [&t] {
      if (t.state.position.step < 1) return StopRequest{};
      return t.world->rank == 0 ? StopRequest{SIGINT, 1000.5} : StopRequest{SIGTERM, 1000.25};
    };
  });
  for (const auto& end : ends) {
    EXPECT_EQ(end.result.signal, SIGTERM);
    EXPECT_EQ(end.result.reason, "interrupted");
  }
  EXPECT_THAT(ends[0].events, ElementsAre("begin", "step 1", "step 2", "saved 2", "end"));
  EXPECT_THAT(ends[1].events, ElementsAre("begin", "step 1", "step 2", "end"));
}

// During the first step and the third.
TEST(LoopOnRanks, DoesWhatOneOfThemWasAsked) {
  const auto ends = run_ranks(3, [](SmallTraining& t, Hooks& hooks) {
    hooks.save_requested = [&t] { return t.world->rank == 2 && t.state.position.step == 0; };
    hooks.stop_requested = [&t] {
      return StopRequest{t.world->rank == 1 && t.state.position.step == 2 ? SIGHUP : 0, 1};
    };
  });
  for (const auto& end : ends) EXPECT_EQ(end.result.signal, SIGHUP);
  EXPECT_THAT(ends[0].events,
              ElementsAre("begin", "step 1", "saved 1", "step 2", "step 3", "saved 3", "end"));
}

/// Counts what the ranks gather from each other.
class CountsGathers final : public Group {
 public:
  CountsGathers(std::unique_ptr<Group> inner, int& gathers)
      : inner_(std::move(inner)), gathers_(gathers) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    ++gathers_;
    return inner_->all_gather(tensor);
  }
  void all_reduce(at::Tensor& tensor) override { inner_->all_reduce(tensor); }
  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    return inner_->all_reduce_async(tensor);
  }
  void broadcast(at::Tensor& tensor, int root) override { inner_->broadcast(tensor, root); }
  std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) override {
    return inner_->all_gather_async(flat, cuts);
  }
  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                          at::Tensor& parts) override {
    return inner_->exchange_async(flat, cuts, parts);
  }
  void send(const at::Tensor& tensor, int to) override { inner_->send(tensor, to); }
  void receive(at::Tensor& tensor, int from) override { inner_->receive(tensor, from); }
  void barrier() override { inner_->barrier(); }
  void abort(const std::string& reason) override { inner_->abort(reason); }

 private:
  std::unique_ptr<Group> inner_;
  int& gathers_;
};

TEST(LoopOnRanks, TalksOfRequestsOnlyWhereThereIsOne) {
  for (const bool asks : {false, true}) {
    std::vector<int> gathers(2, 0);
    play_all(2, [&](World& world) {
      auto& own = gathers[static_cast<std::size_t>(world.rank)];
      world.control = std::make_unique<CountsGathers>(std::move(world.control), own);
      auto t = fake_training(world);
      Hooks hooks;
      hooks.evaluate = false;
      hooks.save_requested = [&] { return asks && world.rank == 1 && t.state.position.step == 3; };
      train(t, hooks);
    });
    EXPECT_THAT(gathers, Each(asks ? 1 : 0));
  }
}

/// Its state is on several ranks: a number on each, of which a checkpoint has the sum.
class SumsNumbers final : public AroundOptimizer {
 public:
  SumsNumbers(std::unique_ptr<Optimizer> inner, World& world, double number)
      : AroundOptimizer(std::move(inner)), world_(world), number_(number) {}
  std::vector<NamedTensor> gather_state() const override {
    if (number_ < 0) throw std::runtime_error("out of luck");
    auto sum = at::full({1}, number_, at::kDouble);
    world_.control->all_reduce(sum);
    return {{"sum", sum}};
  }

 private:
  World& world_;
  double number_;
};

/// Ranks of which each has a number, on a folder of checkpoints. What each threw.
std::vector<std::exception_ptr> save_numbers(const std::string& folder,
                                             const std::vector<double>& numbers) {
  return play(make_thread_worlds(static_cast<int>(numbers.size())), [&](World& world) {
    auto t = fake_training(world);
    const auto number = numbers.at(static_cast<std::size_t>(world.rank));
    t.optimizer =
        std::make_unique<SumsNumbers>(std::move(get_underlying(t.optimizer)), world, number);
    Hooks hooks;
    hooks.checkpoints = folder;
    hooks.save_requested = [&t] { return t.world->rank == 1 && t.state.position.step == 1; };
    train(t, hooks);
  });
}

TEST(LoopOnRanks, GathersStateForACheckpointFromAllOfThem) {
  const TemporaryFolder folder;
  for (const auto& thrown : save_numbers(folder.path(), {1, 2, 4}))
    EXPECT_EQ(message_of(thrown), "");
  for (const std::int64_t step : {2, 6}) {
    const auto checkpoint = load_checkpoint(folder.path() + "/" + checkpoint_name(step));
    ASSERT_EQ(checkpoint.optimizer.size(), 1U);
    EXPECT_EQ(checkpoint.optimizer[0].name, "sum");
    EXPECT_EQ(checkpoint.optimizer[0].tensor.item<double>(), 7);
  }
}

TEST(LoopOnRanks, WritesNothingAndLeavesNobodyWaitingWhereOneCannotGiveItsState) {
  for (const int failing : {0, 1}) {
    const TemporaryFolder folder;
    std::vector<double> numbers{1, 2};
    numbers[static_cast<std::size_t>(failing)] = -1;
    const auto thrown = save_numbers(folder.path(), numbers);
    const auto other = static_cast<std::size_t>(1 - failing);
    EXPECT_EQ(message_of(thrown[static_cast<std::size_t>(failing)]), "out of luck");
    EXPECT_EQ(message_of(thrown[other]),
              "thread " + std::to_string(failing) + " of the group has ended");
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

}  // namespace
}  // namespace ddptrain
