// Ranks that die or hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

const std::vector<std::string> kLongRun{"run",
                                        "small.yaml",
                                        "parallel.mode=ddp",
                                        "parallel.devices=2",
                                        "train.duration=100000 steps",
                                        "eval.every=100000 steps",
                                        "model={type: mnist_net, num_classes: auto}"};

bool wait_for(Program& program, const std::string& text) {
  while (program.running()) {
    if (program.err().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Faults, ARankThatIsKilledEndsTheRunAndIsNamed) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program(kLongRun, folder.path(), environment());
  ASSERT_TRUE(wait_for(program, "step 3"));
  const auto ranks = children_of(program.pid());
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGKILL);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 128 + SIGKILL) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("error: rank 1 was killed by signal 9 (SIGKILL); if "
                                            "no process sent it, the kernel ran out of memory\n"));
  EXPECT_TRUE(processes_with(folder.path()).empty());
}

TEST(Faults, ASuspendedRankIsNamedAsTheOneThatHangs) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kLongRun;
  words.push_back("parallel.timeout.step=10 s");
  Program program(words, folder.path(), environment());
  ASSERT_TRUE(wait_for(program, "step 3"));
  const auto ranks = children_of(program.pid());
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGSTOP);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 124) << ended.err;
  EXPECT_THAT(ended.err,
              testing::ContainsRegex(
                  "error: rank 1: no sign of life for [0-9.]+ s in phase '[a-z ]+' after step "
                  "[0-9]+; the process is suspended \\(parallel.timeout\\)\n"));
  EXPECT_TRUE(processes_with(folder.path()).empty());
}

// The damaged image is read by one rank; the other one loses it.
TEST(Faults, ADataErrorOfARankIsTheCauseAndDoesNotCountForRestart) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  std::filesystem::copy(shapes(), folder / "shapes", std::filesystem::copy_options::recursive);
  const auto image = folder / "shapes/train/heart/0011.jpg";
  ASSERT_TRUE(exists(image));
  std::filesystem::resize_file(image, 40);
  const auto ended =
      run({"run", "small.yaml", kSmallModel, "parallel.mode=ddp", "parallel.devices=2",
           "checkpoint.every=1 step", "policy.on_rank_failure=restart"},
          folder.path(), {{"SHAPES", folder / "shapes"}});
  EXPECT_EQ(ended.code, 3) << ended.err;
  const auto headline = ended.err.substr(std::min(ended.err.size(), ended.err.find("error: ")));
  EXPECT_THAT(headline.substr(0, headline.find('\n')),
              testing::MatchesRegex("error: rank [01]: '" + folder / "shapes/train/heart/0011.jpg" +
                                    "' is not a whole JPEG: it ends before the size of the image"))
      << ended.err;
  EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("starting again")));
}

TEST(Faults, ALauncherThatIsKilledLeavesNoRank) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program(kLongRun, folder.path(), environment());
  ASSERT_TRUE(wait_for(program, "step 3"));
  EXPECT_EQ(processes_with(folder.path()).size(), 3U);
  program.signal(SIGKILL);
  program.wait();
  while (!processes_with(folder.path()).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

TEST(Faults, AKilledLaunchersFolderIsRemovedByTheNextRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  std::filesystem::create_directory(folder / "tmp");
  auto variables = environment();
  variables["TMPDIR"] = folder / "tmp";
  Program program(kLongRun, folder.path(), variables);
  ASSERT_TRUE(wait_for(program, "step 3"));
  program.signal(SIGKILL);
  program.wait();
  while (!processes_with(folder.path()).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(list(folder / "tmp").size(), 1U);
  const auto alone =
      run({"run", "small.yaml", kSmallModel, "train.duration=1 step"}, folder.path(), variables);
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(list(folder / "tmp").empty());
}

TEST(Faults, OutOfMemoryIsSaidAlikeOnOneRankAndOnTwo) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto* devices : {"1", "2"}) {
    const auto ended =
        Program({"-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", test::program(), "run",
                 "small.yaml", "parallel.mode=ddp", std::string("parallel.devices=") + devices,
                 "batch.global=16", "model={type: xresnet18, num_classes: auto}",
                 "data.transforms.train=[{type: resize, size: 7000}]", "train.duration=1 step"},
                folder.path(), environment(), "sh")
            .wait();
    EXPECT_EQ(ended.code, 7) << ended.err;
    EXPECT_THAT(
        ended.err,
        testing::HasSubstr("out of memory; a smaller model, batch.micro or eval.batch needs less"));
  }
}

TEST(Faults, ARunStartsAgainFromItsCheckpointWhereThePolicySaysSo) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kLongRun;
  words.insert(words.end(), {"train.duration=60 steps", "checkpoint.every=5 steps",
                             "policy.on_rank_failure=restart"});
  Program program(words, folder.path(), environment());
  ASSERT_TRUE(wait_for(program, "step 7"));
  const auto ranks = children_of(program.pid());
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGKILL);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("warning: starting again from " +
                                            folder / "runs/small/001/checkpoints/step-"));
  EXPECT_TRUE(exists(folder / "runs/small/001/checkpoints/step-00000060"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
