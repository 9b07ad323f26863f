// Runs that go on from an earlier checkpoint, and runs that are complete or were stopped.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "end_to_end/run_safety.h"

namespace ddptrain::end_to_end {
namespace {

TEST_F(RunSafety, AnEarlierCheckpointContinuesInANewRun) {
  ASSERT_EQ(start({"train.duration=8 steps"}).code, 0);
  const auto home = folder_ / "runs/small/001";
  const auto before = contents(home);
  const auto branch = resume({"runs/small/001", "--checkpoint", "step-00000004"});
  ASSERT_EQ(branch.code, 0) << branch.err;
  EXPECT_TRUE(holds(branch.err, "a new run from step-00000004 of " + home)) << branch.err;
  EXPECT_EQ(contents(home), before);
  EXPECT_EQ(latest(), "002");
  const auto other = folder_ / "runs/small/002";
  EXPECT_TRUE(holds(read(other + "/run.json"), "\"checkpoint\": \"step-00000004\""));
  EXPECT_EQ(read(other + "/metrics.csv"), read(home + "/metrics.csv"));
  for (const auto* file : {"/model.safetensors", "/optimizer.safetensors", "/state.json"})
    EXPECT_TRUE(read(checkpoint("002", 8) + file) == read(checkpoint("001", 8) + file)) << file;
  EXPECT_TRUE(exists(checkpoint("002", 4)));
  EXPECT_FALSE(exists(checkpoint("002", 2)));
  EXPECT_FALSE(holds(read(other + "/events.jsonl"), "step-00000006\"") &&
               holds(read(other + "/events.jsonl"), home + "/checkpoints/step-00000006"));
}

TEST_F(RunSafety, TheNewestCheckpointByItsNameContinuesInPlace) {
  ASSERT_EQ(start({"train.duration=4 steps"}).code, 0);
  const auto resumed =
      resume({"runs/small/001", "--checkpoint", "step-00000004", "train.duration=6 steps"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(exists(checkpoint("001", 6)));
  EXPECT_FALSE(exists(folder_ / "runs/small/002"));
}

TEST_F(RunSafety, ABranchFromTheBestKnowsItsBest) {
  ASSERT_EQ(
      start({"train.duration=6 steps",
             "checkpoint={every: 2 steps, keep_last: 9, keep_best: {metric: accuracy, mode: max}}"})
          .code,
      0);
  const auto home = folder_ / "runs/small/001";
  const auto before = contents(home);
  const auto branch =
      resume({"runs/small/001", "--checkpoint", "step-00000004", "train.duration=7 steps"});
  ASSERT_EQ(branch.code, 0) << branch.err;
  EXPECT_EQ(contents(home), before);
  EXPECT_TRUE(exists(folder_ / "runs/small/002/checkpoints/best/model.safetensors"));
}

// The kill may come before the branch saves anything of its own.
TEST_F(RunSafety, AKilledBranchResumesExactly) {
  ASSERT_EQ(start({"train.duration=30 steps", "checkpoint.every=4 steps"}).code, 0);
  const auto home = folder_ / "runs/small/001";
  const std::string two = "parallel.devices=1";
  Program branch({"resume", "runs/small/001", "--checkpoint", "step-00000004", two}, folder_.path(),
                 environment());
  while (branch.running() && reached_step(branch.err()) < 6)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  branch.signal(SIGKILL);
  branch.wait();
  const auto resumed = resume({"runs/small/002"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string last = "/checkpoints/step-00000030/";
  for (const auto* file : {"model.safetensors", "optimizer.safetensors", "state.json"})
    EXPECT_TRUE(read(folder_ / "runs/small/002" + last + file) == read(home + last + file)) << file;
  EXPECT_EQ(read(folder_ / "runs/small/002/metrics.csv"), read(home + "/metrics.csv"));
}

TEST_F(RunSafety, ABranchStartsAgainWhereARankDiesAndThePolicySaysSo) {
  ASSERT_EQ(start({"parallel.mode=ddp", "parallel.devices=2", "train.duration=60 steps",
                   "eval.every=60 steps", "checkpoint={every: 5 steps, keep_last: 99}"})
                .code,
            0);
  Program branch({"resume", "runs/small/001", "--checkpoint", "step-00000005",
                  "policy.on_rank_failure=restart"},
                 folder_.path(), environment());
  while (branch.running() && reached_step(branch.err()) < 12)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto ranks = children_of(branch.pid());
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGKILL);
  const auto ended = branch.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(holds(ended.err, "starting again from " + folder_ / "runs/small/002/")) << ended.err;
  const std::string model = "/checkpoints/step-00000060/model.safetensors";
  EXPECT_TRUE(read(folder_ / "runs/small/002" + model) == read(folder_ / "runs/small/001" + model));
}

TEST_F(RunSafety, ACompleteRunSaysSoAndStaysAsItIs) {
  ASSERT_EQ(start({"train.duration=4 steps"}).code, 0);
  const auto home = folder_ / "runs/small/001";
  const auto before = contents(home);
  const auto log = read(home + "/log.txt");
  const auto again = resume({"runs/small/001"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(holds(again.err,
                    "this run is complete (done: 4 steps); to train on: ddptrain resume "
                    "runs/small/001 'train.duration=8 steps'"))
      << again.err;
  EXPECT_EQ(contents(home), before);
  EXPECT_EQ(read(home + "/log.txt"), log);
  EXPECT_EQ(resume({"runs/small/001", "train.duration=8 steps"}).code, 0);
  EXPECT_TRUE(exists(checkpoint("001", 8)));
}

/// Never better: the rate leaves the weights as they are, and a loss must fall by 100.
const std::string kStops = "callbacks=[{type: early_stopping, patience: 2, min_delta: 100}]";

TEST_F(RunSafety, AnEarlyStopIsPartOfTheState) {
  ASSERT_EQ(start({"train.duration=20 steps", kStops}).code, 0);
  const auto home = folder_ / "runs/small/001";
  EXPECT_TRUE(holds(read(checkpoint("001", 6) + "/state.json"), "\"stop\""));
  const auto before = contents(home);
  const auto again = resume({"runs/small/001"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(holds(again.err,
                    "this run is complete (stopped: no better loss in 2 evaluations); to "
                    "train on: ddptrain resume runs/small/001 'callbacks[0].patience=4'"))
      << again.err;
  EXPECT_EQ(contents(home), before);
}

TEST_F(RunSafety, AStoppedRunThatIsAskedForMoreContinuesAndSaysWhatStillCounts) {
  ASSERT_EQ(start({"train.duration=20 steps", kStops}).code, 0);
  const auto patient = resume({"runs/small/001", "callbacks[0].patience=4"});
  EXPECT_EQ(patient.code, 0) << patient.err;
  EXPECT_TRUE(holds(patient.err, "callbacks[0] (early_stopping) keep what they counted"))
      << patient.err;
  EXPECT_TRUE(exists(folder_ / "runs/small/001/checkpoints/step-00000010")) << "2 + 2 waited";
  EXPECT_FALSE(exists(folder_ / "runs/small/001/checkpoints/step-00000012"));
  const auto longer = resume({"runs/small/001", "train.duration=30 steps"});
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_TRUE(exists(folder_ / "runs/small/001/checkpoints/step-00000012"));
}

// Killed after the stop was saved and before the run's record was: it ends without a step more.
TEST_F(RunSafety, AStoppedRunWhoseRecordIsMissingOnlyWritesIt) {
  ASSERT_EQ(start({"train.duration=20 steps", kStops}).code, 0);
  auto record = read(folder_ / "runs/small/001/run.json");
  const std::string code = "\"exit_code\": 0";
  record.replace(record.find(code), code.size(), "\"exit_code\": null");
  write(folder_ / "runs/small/001/run.json", record);
  const auto resumed = resume({"runs/small/001"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_FALSE(exists(folder_ / "runs/small/001/checkpoints/step-00000008"));
  EXPECT_TRUE(holds(read(folder_ / "runs/small/001/run.json"),
                    "\"result\": \"stopped: no better loss in 2 evaluations\""));
}

TEST_F(RunSafety, ATimedRunIsCompleteWhenItsTimeIsUp) {
  ASSERT_EQ(start({"train.duration=1 s"}).code, 0);
  const auto again = resume({"runs/small/001"});
  EXPECT_TRUE(holds(again.err,
                    "this run is complete (done: 1 s); to train on: ddptrain resume "
                    "runs/small/001 'train.duration=2 s'"))
      << again.err;
  EXPECT_EQ(resume({"runs/small/001", "train.duration=2 s"}).code, 0);
  EXPECT_TRUE(holds(resume({"runs/small/001"}).err, "this run is complete (done: 2 s)"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
