// Ranks that die or hang, and ranks that somebody else started.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "program.h"

namespace ddptrain::end_to_end {
namespace {

std::map<std::string, std::string> environment() { return {{"SHAPES", shapes()}}; }

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

std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream in("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                   "/children");
  std::vector<pid_t> children;
  for (pid_t child; in >> child;) children.push_back(child);
  return children;
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

TEST(Join, RanksThatTorchrunStartedTrainAsOneRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> words{"run", "small.yaml", "parallel.mode=ddp",
                                       "parallel.devices=2"};
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto rank = [&](const std::string& number) {
    return std::map<std::string, std::string>{{"SHAPES", shapes()},
                                              {"RANK", number},
                                              {"LOCAL_RANK", number},
                                              {"WORLD_SIZE", "2"},
                                              {"LOCAL_WORLD_SIZE", "2"},
                                              {"MASTER_ADDR", "127.0.0.1"},
                                              {"MASTER_PORT", "29517"},
                                              {"TORCHELASTIC_RUN_ID", "test"},
                                              {"TORCHELASTIC_RESTART_COUNT", "0"}};
  };
  Program first(words, folder.path(), rank("0"));
  Program second(words, folder.path(), rank("1"));
  const auto a = first.wait(), b = second.wait();
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(b.code, 0) << b.err;
  for (const auto* file : {"/checkpoints/step-00000008/model.safetensors", "/metrics.csv"})
    EXPECT_TRUE(read(folder / "runs/small/001" + file) == read(folder / "runs/small/002" + file))
        << file;
  EXPECT_FALSE(exists(folder / "runs/small/003"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
