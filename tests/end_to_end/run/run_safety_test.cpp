// No command harms a run: what is refused changes nothing, what is damaged is named, what is
// complete stays so, and a branch is a run of its own.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;

/// Every file of a run folder but its logs, which tell of each attempt.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto name = entry.path().lexically_relative(folder).string();
    if (entry.is_regular_file() && !name.starts_with("log.")) files[name] = read(entry.path());
  }
  return files;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class RunSafety : public testing::Test {
 protected:
  RunSafety() { write(folder_ / "small.yaml", small_recipe()); }

  Ended start(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"run", "small.yaml", kSmallModel, "train.threads=1", "eval.every=2 steps",
                  "checkpoint={every: 2 steps, keep_last: 9}"});
    return run(words, folder_.path(), environment());
  }
  Ended resume(std::vector<std::string> words) {
    words.insert(words.begin(), "resume");
    return run(words, folder_.path(), environment());
  }
  /// Flips a bit in the middle of a file.
  void damage(const std::string& file) {
    auto bytes = read(file);
    ASSERT_FALSE(bytes.empty()) << file;
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write(file, bytes);
  }
  std::string checkpoint(const std::string& number, int step) const {
    return folder_ / "runs/small/" + number + "/checkpoints/step-0000000" + std::to_string(step);
  }
  std::string latest() const { return fs::read_symlink(folder_ / "runs/small/latest"); }

  const Folder folder_;
};

TEST_F(RunSafety, ARefusedResumeChangesNothing) {
  ASSERT_EQ(start({}).code, 0);
  const auto before = contents(folder_ / "runs/small/001");
  for (const auto* devices : {"1", "2"}) {
    const auto mode = std::string("parallel.mode=") + (*devices == '1' ? "none" : "ddp");
    const auto count = std::string("parallel.devices=") + devices;
    for (const auto* change : {"model.type=resnet18", "batch.global=8", "data.root=/nowhere"}) {
      const auto refused = resume({"runs/small/001", mode, count, "batch.micro=auto",
                                   "batch.accumulate=auto", change, "train.duration=12 steps"});
      EXPECT_EQ(refused.code, 3) << change << refused.err;
      EXPECT_EQ(contents(folder_ / "runs/small/001"), before) << change;
    }
  }
  EXPECT_EQ(resume({"runs/small/001", "train.duration=10 steps"}).code, 0);
}

TEST_F(RunSafety, AResumeThatAsksForLessThanWasTrainedNamesAnOverrideThatWorks) {
  ASSERT_EQ(start({"train.duration=4 steps"}).code, 0);
  const auto before = contents(folder_ / "runs/small/001");
  const auto less = resume({"runs/small/001", "train.duration=1 steps"});
  EXPECT_EQ(less.code, 0);
  EXPECT_TRUE(holds(less.err,
                    "this run is complete (done: 4 steps); to train on: ddptrain resume "
                    "runs/small/001 'train.duration=8 steps'\n"))
      << less.err;
  EXPECT_EQ(contents(folder_ / "runs/small/001"), before);
  EXPECT_EQ(resume({"runs/small/001", "train.duration=8 steps"}).code, 0);
}

// val is found by itself; valid, which would be preferred to test alone, comes later.
TEST_F(RunSafety, TheValidationFolderThatWasFoundStaysThatOfTheRun) {
  fs::create_directories(folder_ / "data");
  fs::copy(shapes() + "/train", folder_ / "data/train", fs::copy_options::recursive);
  fs::copy(shapes() + "/val", folder_ / "data/test", fs::copy_options::recursive);
  const auto root = "data.root=" + folder_ / "data";
  const auto ended = start({root, "~data.valid"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(holds(ended.err, "validation split: 'test' in '" + folder_ / "data'")) << ended.err;
  const auto home = folder_ / "runs/small/001";
  EXPECT_TRUE(holds(read(home + "/recipe.yaml"), "folder: test")) << read(home + "/recipe.yaml");
  const auto before = run({"eval", home}, folder_.path());
  ASSERT_EQ(before.code, 0) << before.err;
  EXPECT_TRUE(holds(before.err, "scored 40 samples of the validation split")) << before.err;
  fs::copy(shapes() + "/train", folder_ / "data/val", fs::copy_options::recursive);
  const auto after = run({"eval", home}, folder_.path());
  EXPECT_EQ(after.out, before.out) << after.err;
  const auto again = start({root, "~data.valid", "train.duration=1 step"});
  EXPECT_TRUE(holds(again.err, "validation split: 'val' in '")) << again.err;
  fs::rename(folder_ / "data/test", folder_ / "data/validation");
  const auto gone = run({"eval", home}, folder_.path());
  EXPECT_EQ(gone.code, 3);
  EXPECT_TRUE(holds(gone.err, "'; 'data.valid=val' takes the one that is there")) << gone.err;
}

TEST_F(RunSafety, ARefusedResumeIsAddedToTheLogOfTheRun) {
  ASSERT_EQ(start({"parallel.mode=ddp", "parallel.devices=2"}).code, 0);
  for (const auto* devices : {"1", "2"}) {
    const auto mode = std::string("parallel.mode=") + (*devices == '1' ? "none" : "ddp");
    const auto before = read(folder_ / "runs/small/001/log.txt"),
               second = read(folder_ / "runs/small/001/log.rank1.txt");
    ASSERT_TRUE(holds(before, " step 8  saved checkpoints/step-00000008\n")) << before;
    const auto refused = resume({"runs/small/001", mode, std::string("parallel.devices=") + devices,
                                 "batch.global=8", "batch.micro=auto", "batch.accumulate=auto",
                                 "train.duration=12 steps"});
    EXPECT_EQ(refused.code, 3) << refused.err;
    const auto after = read(folder_ / "runs/small/001/log.txt");
    EXPECT_TRUE(after.starts_with(before)) << after;
    EXPECT_TRUE(holds(after.substr(before.size()), "the run cannot go on from this checkpoint"))
        << after;
    EXPECT_TRUE(read(folder_ / "runs/small/001/log.rank1.txt").starts_with(second));
  }
}

TEST_F(RunSafety, ARefusedResumeOfABatchThatIsToBeFoundChangesNothing) {
  ASSERT_EQ(start({}).code, 0);
  const auto before = contents(folder_ / "runs/small/001");
  const auto refused = resume({"runs/small/001", "batch.global=8", "batch.micro=auto",
                               "batch.accumulate=auto", "train.duration=12 steps"});
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_EQ(contents(folder_ / "runs/small/001"), before);
}

TEST_F(RunSafety, ARunThatDoesNotBeginLeavesNoFolderAndNeverTakesLatest) {
  ASSERT_EQ(start({}).code, 0);
  for (const auto* devices : {"1", "2"}) {
    const auto mode = std::string("parallel.mode=") + (*devices == '1' ? "none" : "ddp");
    const auto refused =
        start({mode, std::string("parallel.devices=") + devices, "model.weights=none.pth"});
    EXPECT_EQ(refused.code, 3) << refused.err;
    EXPECT_EQ(latest(), "001");
    EXPECT_FALSE(exists(folder_ / "runs/small/002"));
  }
}

// However far it came: before its first step nothing is left, after that it is saved.
TEST_F(RunSafety, ARunWhoseFirstLineAloneIsReadLeavesNothingOrACheckpoint) {
  for (const auto* ranks : {"none parallel.devices=1", "ddp parallel.devices=2"}) {
    const auto line = R"("$0" run small.yaml ')" + std::string(kSmallModel) +
                      "' train.threads=1 train.duration=1000000steps parallel.mode=" + ranks +
                      R"( 2>&1 | head -n 1 > /dev/null; echo "ended ${PIPESTATUS[0]}" >&2)";
    const auto ended =
        Program({"-c", line, test::program()}, folder_.path(), environment(), "bash").wait();
    EXPECT_EQ(ended.err, "ended 141\n");
    if (!exists(folder_ / "runs/small/001")) continue;
    EXPECT_FALSE(list(folder_ / "runs/small/001/checkpoints").empty()) << ranks;
    EXPECT_TRUE(holds(read(folder_ / "runs/small/001/run.json"), "\"exit_code\": 141"));
    fs::remove_all(folder_ / "runs");
  }
}

TEST_F(RunSafety, JoinedRanksThatDoNotBeginLeaveNoFolder) {
  const auto port = free_port();
  const auto rank = [&](const std::string& number) {
    return std::map<std::string, std::string>{{"SHAPES", shapes()},
                                              {"RANK", number},
                                              {"LOCAL_RANK", number},
                                              {"WORLD_SIZE", "2"},
                                              {"LOCAL_WORLD_SIZE", "2"},
                                              {"MASTER_ADDR", "127.0.0.1"},
                                              {"MASTER_PORT", port},
                                              {"TORCHELASTIC_RUN_ID", "test"},
                                              {"TORCHELASTIC_RESTART_COUNT", "0"}};
  };
  const std::vector<std::string> words{"run", "small.yaml", "parallel.mode=ddp",
                                       "parallel.devices=2", "model.weights=none.pth"};
  Program first(words, folder_.path(), rank("0"));
  Program second(words, folder_.path(), rank("1"));
  const auto a = first.wait(), b = second.wait();
  EXPECT_EQ(a.code, 3) << a.err;
  EXPECT_NE(b.code, 0) << b.err;
  EXPECT_FALSE(exists(folder_ / "runs/small/001"));
  EXPECT_FALSE(fs::is_symlink(folder_ / "runs/small/latest"));
}

TEST_F(RunSafety, DamagedCheckpointsAreNamedAndNothingIsTrained) {
  ASSERT_EQ(start({"train.duration=4 steps"}).code, 0);
  damage(checkpoint("001", 2) + "/model.safetensors");
  damage(checkpoint("001", 4) + "/optimizer.safetensors");
  fs::remove(checkpoint("001", 4) + "/state.json");
  const auto before = contents(folder_ / "runs/small/001");
  const auto refused = resume({"runs/small/001", "train.duration=6 steps"});
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_TRUE(
      holds(refused.err, "error: '" + checkpoint("001", 2) +
                             "/model.safetensors' is damaged: its checksums are not those of "
                             "MANIFEST.json (tensor 'fc1.weight')\n"))
      << refused.err;
  EXPECT_TRUE(
      holds(refused.err, "error: '" + checkpoint("001", 4) +
                             "/optimizer.safetensors' is damaged: its checksums are not those "
                             "of MANIFEST.json (tensor 'fc1.weight.momentum_buffer')\n"))
      << refused.err;
  EXPECT_TRUE(holds(refused.err, "error: '" + checkpoint("001", 4) + "/state.json' is missing\n"))
      << refused.err;
  const auto home = folder_ / "runs/small/001";
  EXPECT_TRUE(holds(
      refused.err,
      "error: no checkpoint of '" + home + "' is intact; nothing was changed. 'ddptrain resume " +
          home + " --from-scratch' sets them aside and trains from the first step; 'ddptrain run " +
          home + "/recipe.yaml model.weights=" + checkpoint("001", 4) +
          "/model.safetensors' starts another run from weights\n"))
      << refused.err;
  EXPECT_EQ(contents(folder_ / "runs/small/001"), before);
  EXPECT_EQ(run({"eval", "runs/small/001"}, folder_.path()).code, 3);
}

TEST_F(RunSafety, CheckpointsWithoutManifestOrDeletedAreNoReasonToBeginAgain) {
  ASSERT_EQ(start({"train.duration=2 steps"}).code, 0);
  fs::remove(checkpoint("001", 2) + "/MANIFEST.json");
  const auto damaged = resume({"runs/small/001", "train.duration=6 steps"});
  EXPECT_EQ(damaged.code, 3) << damaged.err;
  EXPECT_TRUE(
      holds(damaged.err, "error: '" + checkpoint("001", 2) + "/MANIFEST.json' is missing\n"))
      << damaged.err;
  fs::remove_all(checkpoint("001", 2));
  const auto gone = resume({"runs/small/001", "train.duration=6 steps"});
  EXPECT_EQ(gone.code, 3) << gone.err;
  EXPECT_TRUE(holds(gone.err, "the checkpoints of '")) << gone.err;
}

TEST_F(RunSafety, FromScratchKeepsWhatIsDamagedAndTheMetrics) {
  ASSERT_EQ(start({"train.duration=4 steps"}).code, 0);
  const auto home = folder_ / "runs/small/001";
  EXPECT_EQ(resume({"runs/small/001", "--from-scratch"}).code, 2) << "it has a checkpoint";
  damage(checkpoint("001", 2) + "/model.safetensors");
  damage(checkpoint("001", 4) + "/model.safetensors");
  const auto metrics = read(home + "/metrics.csv");
  const auto ended = resume({"runs/small/001", "--from-scratch"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read(home + "/metrics.csv.1"), metrics);
  EXPECT_EQ(read(home + "/metrics.csv"), metrics) << "the same run again";
  EXPECT_TRUE(exists(home + "/checkpoints.damaged-1/step-00000004/model.safetensors"));
  EXPECT_TRUE(exists(checkpoint("001", 4)));
  EXPECT_TRUE(holds(resume({"runs/small/001"}).err, "this run is complete"));
}

TEST_F(RunSafety, MetricsAfterTheResumedStepAreKept) {
  ASSERT_EQ(start({"train.duration=6 steps"}).code, 0);
  const auto home = folder_ / "runs/small/001";
  const auto metrics = read(home + "/metrics.csv");
  damage(checkpoint("001", 6) + "/model.safetensors");
  const auto resumed = resume({"runs/small/001", "train.duration=7 steps"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read(home + "/metrics.csv.1"), metrics);
}

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
