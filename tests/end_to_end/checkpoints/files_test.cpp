// Checkpoints with a file per rank, and on the disks of nodes: runs and resumes are those of shared
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <thread>

#include "end_to_end/checkpoints/weights_of_runs.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;

std::map<std::string, std::string> bytes_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& name : list(folder)) files[name] = read(folder + "/" + name);
  return files;
}

class CheckpointFilesOfRuns : public testing::Test {
 protected:
  CheckpointFilesOfRuns() { write(folder_ / "small.yaml", small_recipe()); }
  Ended start(const Words& words) const {
    auto ended = run(words, folder_.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  static Words steps(int count, const std::string& checkpoint, const Words& more) {
    Words words{"run",
                "small.yaml",
                kSmallModel,
                "train.threads=1",
                "batch.global=24",
                "train.duration=" + std::to_string(count) + " steps",
                "eval.every=100 steps",
                "checkpoint=" + checkpoint};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string checkpoint(const std::string& run, int step) const {
    return folder_ / (run + "/checkpoints/step-0000000" + std::to_string(step));
  }
  Folder folder_;
};

TEST_F(CheckpointFilesOfRuns, PerRankAreThoseOfSharedFiles) {
  const Words zero1{"parallel.mode=zero1", "parallel.devices=3", "parallel.sums=ordered"};
  const std::string often = "every: 3 steps, keep_last: 9, file_size: 300 kB";
  start(steps(6, "{" + often + ", files: shared}", zero1));
  start(steps(6, "{" + often + ", files: per_rank}", zero1));
  const auto shared = checkpoint("runs/small/001", 6), ranks = checkpoint("runs/small/002", 6);
  EXPECT_THAT(list(shared), testing::Contains("model.safetensors.index.json"));
  EXPECT_THAT(list(ranks), testing::Contains("rank-00002-of-00003.bin"));
  start({"checkpoint", "consolidate", "runs/small/002", "whole"});
  EXPECT_EQ(bytes_below(folder_ / "whole"), bytes_below(shared));
  const auto info = start({"checkpoint", "info", ranks}).out;
  EXPECT_THAT(info, testing::HasSubstr("their bytes are in 3 files of ranks"));
  start({"checkpoint", "verify", "runs/small/002"});
  start({"checkpoint", "diff", "runs/small/001", "runs/small/002"});
  start({"eval", "runs/small/002"});
  start({"export", "runs/small/002", "weights.safetensors"});
  EXPECT_FALSE(read(folder_ / "weights.safetensors").empty());
  const auto from = [&](const std::string& weights, const std::string& dir) {
    start({"run", "small.yaml", kSmallModel, "model.weights=" + weights, "train.duration=1 steps",
           "output.dir=" + dir});
    return read(folder_ / (dir + "/small/001/checkpoints/step-00000001/model.safetensors"));
  };
  EXPECT_TRUE(from(ranks, "a") == from(folder_ / "whole", "b"));
}

TEST_F(CheckpointFilesOfRuns, PerRankAreResumedInAnyModeOnAnyNumberOfRanks) {
  start(steps(8, "{every: 2 steps, keep_last: 9, files: per_rank}",
              {"parallel.mode=ddp", "parallel.devices=2", "train.precision=fp64"}));
  start({"resume", "runs/small/001", "--checkpoint", "step-00000002", "parallel.mode=fsdp",
         "parallel.devices=3"});
  start({"resume", "runs/small/002", "--checkpoint", "step-00000004", "parallel.mode=none",
         "parallel.devices=1"});
  start({"checkpoint", "consolidate", "runs/small/001", "a"});
  start({"checkpoint", "consolidate", "runs/small/003", "b"});
  EXPECT_LT(difference(weights_of(folder_ / "a"), weights_of(folder_ / "b")), 1e-9);
}

void wait_until(Program& program, const std::function<bool(const std::string&)>& said) {
  while (program.running() && !said(program.err()))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST_F(CheckpointFilesOfRuns, OnTheNodesAreWhereAKilledRunGoesOn) {
  const Words ranks{"parallel.mode=ddp", "parallel.devices=2"};
  const auto often =
      "{every: 500 steps, local: {dir: " + (folder_ / "scratch") + ", every: 4 steps}}";
  start(steps(60, often, ranks));
  EXPECT_THAT(list(folder_ / "scratch"), testing::IsEmpty()) << "a complete run needs none";
  {
    Program program(steps(60, often, ranks), folder_.path(), environment());
    wait_until(program, [](const std::string& log) { return reached_step(log) >= 20; });
    wait_until(program, [](const std::string& log) {
      return log.find("(checkpoint.local)") != std::string::npos;
    });
    program.signal(SIGKILL);
    program.wait();
  }
  ASSERT_EQ(list(folder_ / "scratch").size(), 1U);
  EXPECT_THAT(list(folder_ / "runs/small/002/checkpoints"), testing::IsEmpty());
  const auto resumed = start({"resume", "runs/small/002"});
  EXPECT_THAT(resumed.err, testing::ContainsRegex(
                               "resuming from the newer local checkpoint of step [0-9]+ in "));
  for (const auto* file : {"model.safetensors", "optimizer.safetensors"})
    EXPECT_TRUE(read(folder_ / ("runs/small/001/checkpoints/step-00000060/" + std::string(file))) ==
                read(folder_ / ("runs/small/002/checkpoints/step-00000060/" + std::string(file))));
  EXPECT_THAT(list(folder_ / "scratch"), testing::IsEmpty());
}

void flip_a_bit_of_each_model(const std::string& checkpoints) {
  for (const auto& name : list(checkpoints)) {
    const auto file = checkpoints + "/" + name + "/model.safetensors";
    auto bytes = read(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    write(file, bytes);
  }
}

TEST_F(CheckpointFilesOfRuns, OnTheNodesAreWhereARunGoesOnWhoseOthersAreDamaged) {
  const Words ranks{"parallel.mode=ddp", "parallel.devices=2"};
  const auto often =
      "{every: 10 steps, local: {dir: " + (folder_ / "scratch") + ", every: 4 steps}}";
  start(steps(60, often, ranks));
  {
    Program program(steps(60, often, ranks), folder_.path(), environment());
    wait_until(program, [](const std::string& log) { return reached_step(log) >= 20; });
    wait_until(program, [](const std::string& log) {
      return log.find("checkpoints/step-00000010") != std::string::npos;
    });
    program.signal(SIGKILL);
    program.wait();
  }
  const auto run = folder_ / "runs/small/002";
  flip_a_bit_of_each_model(run + "/checkpoints");
  const auto kept = folder_ / "kept";
  std::filesystem::rename(folder_ / "scratch", kept);
  const auto refused =
      ddptrain::end_to_end::run({"resume", "runs/small/002"}, folder_.path(), environment());
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_THAT(refused.err,
              testing::HasSubstr("no checkpoint of '" + run + "' is intact; nothing was changed"));
  std::filesystem::remove_all(folder_ / "scratch");
  std::filesystem::rename(kept, folder_ / "scratch");
  const auto resumed = start({"resume", "runs/small/002"});
  EXPECT_THAT(resumed.err,
              testing::HasSubstr("no checkpoint of the run folder is intact: looking for those of "
                                 "the nodes (checkpoint.local)\n"));
  EXPECT_THAT(resumed.err,
              testing::ContainsRegex("resuming from the local checkpoint of step [0-9]+ in "));
  for (const auto* file : {"model.safetensors", "optimizer.safetensors"})
    EXPECT_TRUE(read(folder_ / ("runs/small/001/checkpoints/step-00000060/" + std::string(file))) ==
                read(folder_ / ("runs/small/002/checkpoints/step-00000060/" + std::string(file))));
}

TEST_F(CheckpointFilesOfRuns, OnTheNodesAreOfOneRun) {
  const auto often = "{local: {dir: scratch, every: 2 steps}}";
  const auto first = start(steps(5, often, {}));
  std::filesystem::remove_all(folder_ / "runs");
  const auto second = start(steps(5, often, {}));
  EXPECT_THAT(second.err, testing::Not(testing::HasSubstr("resuming")));
}

}  // namespace
}  // namespace ddptrain::end_to_end
