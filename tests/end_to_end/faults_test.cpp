// Ranks that die or hang.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "program.h"

namespace ddptrain::end_to_end {
namespace {

const std::vector<std::string> kLongRun{"run",
                                        "small.yaml",
                                        "parallel.mode=ddp",
                                        "parallel.devices=2",
                                        "train.duration=100000 steps",
                                        "eval.every=100000 steps",
                                        "model={type: mnist_net, num_classes: auto}"};

bool wait_for(const Program& program, const std::string& text) {
  for (int i = 0; i < 3000; ++i) {
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
  EXPECT_NE(ended.err.find("rank 1 was killed by signal 9"), std::string::npos) << ended.err;
  EXPECT_TRUE(processes_with(folder.path()).empty());
}

TEST(Faults, ASuspendedRankIsNamedAsTheOneThatHangs) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kLongRun;
  words.push_back("parallel.timeout.step=4 s");
  Program program(words, folder.path(), environment());
  ASSERT_TRUE(wait_for(program, "step 3"));
  const auto ranks = children_of(program.pid());
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGSTOP);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 124) << ended.err;
  EXPECT_NE(ended.err.find("rank 1: no sign of life"), std::string::npos) << ended.err;
  EXPECT_TRUE(processes_with(folder.path()).empty());
}

TEST(Faults, ALauncherThatIsKilledLeavesNoRank) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program(kLongRun, folder.path(), environment());
  ASSERT_TRUE(wait_for(program, "step 3"));
  EXPECT_EQ(processes_with(folder.path()).size(), 3U);
  program.signal(SIGKILL);
  program.wait();
  for (int i = 0; i < 300 && !processes_with(folder.path()).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(processes_with(folder.path()).empty());
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
  EXPECT_NE(ended.err.find("starting again from"), std::string::npos) << ended.err;
  EXPECT_TRUE(exists(folder / "runs/small/001/checkpoints/step-00000060"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
