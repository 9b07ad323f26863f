// The phases of a run, in their order, whatever the engine.
#include <gmock/gmock.h>

#include <numeric>

#include "distributed/phases.h"
#include "support/temporary_folder.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::ElementsAreArray;

class Recorder final : public PhaseWatcher {
 public:
  void begin(Phase phase) override {
    if (depth_++ == 0) outer.emplace_back(name_of(phase));
  }
  void end(Phase) override { --depth_; }
  std::vector<std::string> outer;

 private:
  int depth_ = 0;
};

/// One step, no evaluation.
std::vector<std::string> phases_of_step(World& world, SmallRun run) {
  run.samples = run.global;
  run.epochs = 1;
  auto t = small_training(world, run);
  Recorder recorder;
  Hooks hooks;
  hooks.evaluate = false;
  train(t, hooks);
  return recorder.outer;
}

TEST(PhasesOfAStep, ComeInTheirOrder) {
  auto world = single_world();
  EXPECT_THAT(phases_of_step(world, {}),
              ElementsAre("loader", "transfer", "forward", "backward", "optimizer"));
}

TEST(PhasesOfAStep, RepeatForEachMicroBatch) {
  auto world = single_world();
  EXPECT_THAT(phases_of_step(world, {.accumulate = 2}),
              ElementsAre("loader", "transfer", "forward", "backward", "loader", "transfer",
                          "forward", "backward", "optimizer"));
}

TEST(PhasesOfAStep, HaveACollectiveBetweenRanks) {
  play_all(2, [](World& world) {
    EXPECT_THAT(
        phases_of_step(world, {.mode = Mode::ddp}),
        ElementsAre("loader", "transfer", "forward", "backward", "communication", "optimizer"));
  });
}

TEST(PhasesOfAStep, AreThoseOfTheFirstReplica) {
  auto world = single_world();
  EXPECT_THAT(
      phases_of_step(world, {.mode = Mode::dp, .replicas = 2}),
      ElementsAre("loader", "transfer", "forward", "backward", "communication", "optimizer"));
}

class KeepsSeconds final : public Callback {
 public:
  explicit KeepsSeconds(NamedValues& kept) : kept_(kept) {}
  void at(Moment moment, const RunView& run, RunControl&) override {
    if (moment == Moment::run_end) kept_ = run.phase_seconds;
  }

 private:
  NamedValues& kept_;
};

TEST(PhasesOfARun, SumToItsTime) {
  auto world = single_world();
  auto t = small_training(world, {});
  const TemporaryFolder folder;
  NamedValues seconds;
  t.observers.push_back(std::make_unique<KeepsSeconds>(seconds));
  Hooks hooks;
  hooks.checkpoints = folder.path();
  const Stopwatch whole;
  train(t, hooks);
  const double took = whole.seconds();
  std::vector<std::string> names;
  double sum = 0;
  for (const auto& [name, value] : seconds) {
    names.push_back(name);
    EXPECT_GE(value, 0) << name;
    sum += value;
  }
  EXPECT_THAT(names, ElementsAreArray({"loader", "transfer", "forward", "backward", "communication",
                                       "optimizer", "evaluation", "saving", "train"}));
  EXPECT_GT(sum, 0);
  EXPECT_LE(sum, took);
}

}  // namespace
}  // namespace ddptrain
