// No command harms a run: what is refused changes nothing, what is damaged is named, what is
// complete stays so, and a branch is a run of its own.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "end_to_end/run_safety.h"

namespace ddptrain::end_to_end {
namespace {

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

}  // namespace
}  // namespace ddptrain::end_to_end
