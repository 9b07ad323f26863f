// Ranks that are killed and start again, on the same devices and on others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#include "end_to_end/checkpoints/weights_of_runs.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

Words plus(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// 100 steps of 16 of 120 images: checkpoints lie in the midst of epochs.
const Words kSteps{"run",
                   "small.yaml",
                   kSmallModel,
                   "parallel.mode=ddp",
                   "train.duration=100 steps",
                   "train.threads=1",
                   "eval.every=100 steps",
                   "checkpoint={every: 7 steps, keep_last: 2}"};

constexpr const char* kLast = "/checkpoints/step-00000100";

void wait_until(Program& program, const std::function<bool(const std::string&)>& said) {
  while (program.running() && !said(program.err()))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void wait_for_step(Program& program, int step) {
  wait_until(program, [&](const std::string& log) { return reached_step(log) >= step; });
}

/// The last of the ranks that a launcher has started; it starts them in order.
void kill_last_rank(const Program& launcher) {
  auto ranks = children_of(launcher.pid());
  ASSERT_FALSE(ranks.empty());
  ::kill(*std::max_element(ranks.begin(), ranks.end()), SIGKILL);
}

class RestartsTest : public testing::Test {
 protected:
  RestartsTest() { write(folder_ / "small.yaml", small_recipe()); }

  Ended uninterrupted(const Words& more) {
    auto ended = run(plus(kSteps, plus(more, {"output.dir=whole"})), folder_.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  std::unique_ptr<Program> started(const Words& words, const Variables& more = {}) const {
    auto variables = environment();
    for (const auto& [name, value] : more) variables[name] = value;
    return std::make_unique<Program>(words, folder_.path(), variables);
  }
  std::string whole() const { return folder_ / "whole/small/001"; }
  std::string cut() const { return folder_ / "runs/small/001"; }
  void expect_same_bits() const {
    for (const auto* file : {"/model.safetensors", "/optimizer.safetensors"})
      EXPECT_TRUE(read(whole() + kLast + file) == read(cut() + kLast + file)) << file;
    EXPECT_EQ(read(whole() + "/metrics.csv"), read(cut() + "/metrics.csv"));
  }

  Folder folder_;
};

TEST_F(RestartsTest, ARankThatIsKilledStartsAgainWithTheSameBits) {
  const Words ranks{"parallel.devices=2"};
  uninterrupted(ranks);
  const auto program = started(plus(kSteps, plus(ranks, {"parallel.restarts=2"})));
  wait_for_step(*program, 40);
  kill_last_rank(*program);
  const auto ended = program->wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::ContainsRegex("warning: starting again from " + cut() +
                                                "/checkpoints/step-[0-9]+ \\(restart 1 of 2\\)\n"));
  const std::string why =
      "restart 1 of 2 after exit code 137: training continues after step [0-9]+";
  EXPECT_THAT(read(cut() + "/events.jsonl"),
              testing::AllOf(testing::ContainsRegex("\"warning\".*" + why),
                             testing::ContainsRegex("\"resume\".*\"step\": *[0-9]+")));
  EXPECT_THAT(read(cut() + "/report.html"),
              testing::AllOf(testing::ContainsRegex(why),
                             testing::ContainsRegex("Resumed 1 time, after step [0-9]+\\.")));
  expect_same_bits();
}

TEST_F(RestartsTest, AreMadeAsOftenAsTheRecipeSays) {
  const auto program = started(
      plus(kSteps, {"parallel.devices=2", "train.duration=100000 steps", "parallel.restarts=1"}));
  wait_for_step(*program, 20);
  kill_last_rank(*program);
  wait_until(*program, [](const std::string& log) {
    const auto again = log.find("training continues after step ");
    return again != std::string::npos && reached_step(log.substr(again)) >= 60;
  });
  kill_last_rank(*program);
  const auto ended = program->wait();
  EXPECT_EQ(ended.code, 128 + SIGKILL) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("error: not started again: 1 restarts were made "
                                            "(parallel.restarts)\n"));
}

TEST_F(RestartsTest, EndWhereTwoStartsSaveNothing) {
  const auto program = started(
      plus(kSteps, {"parallel.devices=2", "checkpoint.every=100 steps", "parallel.restarts=9"}));
  wait_for_step(*program, 5);
  kill_last_rank(*program);
  wait_until(*program, [](const std::string& log) {
    const auto again = log.find("training continues after step 0");
    return again != std::string::npos && reached_step(log.substr(again)) >= 5;
  });
  kill_last_rank(*program);
  const auto ended = program->wait();
  EXPECT_EQ(ended.code, 128 + SIGKILL) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("warning: starting again from the first step (restart "
                                            "1 of 9)\n"));
  EXPECT_THAT(ended.err, testing::HasSubstr("error: not started again: no checkpoint was made "
                                            "since the last start\n"));
}

TEST_F(RestartsTest, AreNotForALossThatIsNotFinite) {
  const auto ended = run(plus(kSteps, {"parallel.devices=2", "optimizer.lr=1e30",
                                       "checkpoint.every=1 step", "parallel.restarts=9"}),
                         folder_.path(), environment());
  EXPECT_EQ(ended.code, 5) << ended.err;
  EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("starting again")));
}

// Each node's process starts the ranks of its node again.
// Gloo adds up in another order than the four ranks of one machine.
TEST_F(RestartsTest, OfSeveralNodesMeetAgain) {
  const auto address = "127.0.0.1:" + free_port();
  const auto node = [&](const std::string& rank, const std::string& runs) {
    return started(plus(kSteps, {"parallel.devices=4", "parallel.restarts=2", "output.dir=" + runs,
                                 "--nodes", "2", "--address", address, "--node-rank", rank}));
  };
  {
    const auto first = node("0", "whole"), second = node("1", "whole");
    EXPECT_EQ(first->wait().code, 0) << first->err();
    EXPECT_EQ(second->wait().code, 0) << second->err();
  }
  const auto first = node("0", "runs"), second = node("1", "runs");
  wait_for_step(*first, 40);
  kill_last_rank(*second);
  const auto a = first->wait(), b = second->wait();
  ASSERT_EQ(a.code, 0) << a.err << b.err;
  EXPECT_EQ(b.code, 0) << b.err;
  EXPECT_THAT(a.err, testing::HasSubstr("(restart 1 of 2)"));
  EXPECT_FALSE(exists(folder_ / "runs/small/002"));
  expect_same_bits();
}

/// A rank that torchrun started.
Variables of_torchrun(int rank, int world, const std::string& port, int restart) {
  const auto number = std::to_string(rank), ranks = std::to_string(world);
  return {{"RANK", number},
          {"LOCAL_RANK", number},
          {"WORLD_SIZE", ranks},
          {"LOCAL_WORLD_SIZE", ranks},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", port},
          {"TORCHELASTIC_RUN_ID", "test"},
          {"TORCHELASTIC_RESTART_COUNT", std::to_string(restart)}};
}

class Elastic : public RestartsTest {
 protected:
  const std::string port_ = free_port();
  /// Until a step, when the last one is killed; all end.
  std::string killed_at(int step, const Words& words, int world, int restart) {
    std::vector<std::unique_ptr<Program>> ranks;
    for (int rank = 0; rank < world; ++rank)
      ranks.push_back(started(words, of_torchrun(rank, world, port_, restart)));
    wait_for_step(*ranks[0], step);
    ranks.back()->signal(SIGKILL);
    std::string log;
    for (const auto& rank : ranks) log += rank->wait().err;
    return log;
  }
  /// To the end.
  std::string trained(const Words& words, int world, int restart) {
    std::vector<std::unique_ptr<Program>> ranks;
    for (int rank = 0; rank < world; ++rank)
      ranks.push_back(started(words, of_torchrun(rank, world, port_, restart)));
    std::string log;
    for (const auto& rank : ranks) {
      const auto ended = rank->wait();
      EXPECT_EQ(ended.code, 0) << ended.err;
      log += ended.err;
    }
    return log;
  }
};

// As under `torchrun --nnodes 1:2`: the same command, with as many ranks as there are.
TEST_F(Elastic, ARunGoesOnWithFewerAndWithMoreRanks) {
  const Words recipe{"train.precision=fp64", "parallel.devices=2"};
  uninterrupted(recipe);
  const auto words = plus(kSteps, plus(recipe, {"--auto-resume"}));
  killed_at(40, words, 2, 0);
  const auto fewer = killed_at(70, words, 1, 1);
  EXPECT_THAT(fewer,
              testing::HasSubstr("resuming the unfinished run in runs/small/001 from step-"));
  EXPECT_THAT(fewer, testing::HasSubstr("global 16 = micro 16 x accumulate 1 x 1 device"));
  const auto more = trained(words, 4, 2);
  EXPECT_THAT(more, testing::HasSubstr("resuming the unfinished run in runs/small/001 from step-"));
  EXPECT_FALSE(exists(folder_ / "runs/small/002"));
  EXPECT_LT(difference(weights_of(cut() + kLast), weights_of(whole() + kLast)), 1e-9);
}

TEST_F(Elastic, WhatTheRecipeWroteOfItsBatchFollowsTheRanks) {
  const Words recipe{"train.precision=fp64", "parallel.devices=2",
                     "batch={global: 16, micro: 4, accumulate: 2}"};
  uninterrupted(recipe);
  const auto words = plus(kSteps, plus(recipe, {"--auto-resume"}));
  killed_at(40, words, 2, 0);
  const auto log = trained(words, 1, 1);
  EXPECT_THAT(log, testing::HasSubstr("global 16 = micro 4 x accumulate 4 x 1 device"));
  EXPECT_FALSE(exists(folder_ / "runs/small/002"));
  EXPECT_LT(difference(weights_of(cut() + kLast), weights_of(whole() + kLast)), 1e-9);
}

TEST_F(Elastic, RanksThatCannotShareTheBatchAreRefused) {
  const auto words = plus(kSteps, {"parallel.devices=2", "--auto-resume"});
  killed_at(40, words, 2, 0);
  std::vector<std::unique_ptr<Program>> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.push_back(started(words, of_torchrun(rank, 3, port_, 1)));
  for (const auto& rank : ranks) {
    const auto ended = rank->wait();
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, testing::ContainsRegex("error.*16.* 3 devices"));
  }
  EXPECT_FALSE(exists(folder_ / "runs/small/002"));
}

/// A process and all that it has started; torchrun gives each rank a session of its own.
std::vector<pid_t> family_of(pid_t process) {
  std::vector<pid_t> family{process};
  for (std::size_t i = 0; i < family.size(); ++i)
    for (const auto child : children_of(family[i])) family.push_back(child);
  return family;
}

// Two agents of one rank each; the one that came last is killed with its rank.
TEST_F(Elastic, UnderTorchrunARunGoesOnWithTheNodeThatIsLeft) {
  const char* peers = std::getenv("DDPTRAIN_PEERS");
  if (!peers) GTEST_SKIP() << "DDPTRAIN_PEERS=FOLDER names a Python environment with torch";
  const Words recipe{"train.precision=fp64", "parallel.devices=2"};
  uninterrupted(recipe);
  const auto endpoint = "--rdzv-endpoint=127.0.0.1:" + free_port();
  const auto agent = [&] {
    const Words torchrun{"-m",
                         "torch.distributed.run",
                         "--nnodes=1:2",
                         "--nproc-per-node=1",
                         "--max-restarts=3",
                         "--rdzv-backend=c10d",
                         endpoint,
                         "--rdzv-id=elastic",
                         "--rdzv-conf=last_call_timeout=20",
                         "--no-python",
                         test::program()};
    auto variables = environment();
    return std::make_unique<Program>(plus(torchrun, plus(kSteps, plus(recipe, {"--auto-resume"}))),
                                     folder_.path(), variables, std::string(peers) + "/bin/python");
  };
  const auto first = agent();
  std::this_thread::sleep_for(std::chrono::seconds(3));  // it serves the rendezvous
  const auto second = agent();
  while (first->running() && !exists(cut() + "/checkpoints/step-00000042"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto family = family_of(second->pid());
  ASSERT_GE(family.size(), 2);
  for (const auto process : family) ASSERT_EQ(::kill(process, SIGKILL), 0);
  second->wait();
  const auto ended = first->wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(exists(folder_ / "runs/small/002"));
  EXPECT_THAT(read(cut() + "/run.json"), testing::HasSubstr("\"ranks\": 1"));
  EXPECT_LT(difference(weights_of(cut() + kLast), weights_of(whole() + kLast)), 1e-9);
}

}  // namespace
}  // namespace ddptrain::end_to_end
