// Nodes that the command line names, and runs that are started again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;

Words with_words(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words kRanksOfTwo{"run", "small.yaml", "parallel.mode=ddp", "parallel.devices=2",
                        "train.threads=1"};
const Words kTwoNodes = with_words(kRanksOfTwo, {"--nodes", "2"});

TEST(Nodes, OfTheCommandLineTrainAsOneRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run(kRanksOfTwo, folder.path(), environment()).code, 0);
  const Words address{"--address", "127.0.0.1:" + free_port()};
  Program first(with_words(with_words(kTwoNodes, address), {"--node-rank", "0"}), folder.path(),
                environment());
  Program second(with_words(with_words(kTwoNodes, address), {"--node-rank", "1"}), folder.path(),
                 environment());
  const auto a = first.wait(), b = second.wait();
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(b.code, 0) << b.err;
  for (const auto* file : {"/checkpoints/step-00000008/model.safetensors", "/metrics.csv"})
    EXPECT_TRUE(read(folder / "runs/small/001" + file) == read(folder / "runs/small/002" + file))
        << file;
}

TEST(Nodes, ButTheFirstSayWhichTheyAreAndWhereTheirLogIs) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const Words words{
      "run", "small.yaml", "train.duration=2 steps", "train.threads=1",
      "parallel={mode: ddp, devices: 4, nodes: 2, rendezvous: 127.0.0.1:" + free_port() + "}"};
  Program first(with_words(words, {"--node-rank", "0"}), folder.path(), environment());
  Program second(with_words(words, {"--node-rank", "1"}), folder.path(), environment());
  const auto a = first.wait(), b = second.wait();
  ASSERT_EQ(a.code, 0) << a.err;
  ASSERT_EQ(b.code, 0) << b.err;
  const auto run = folder / "runs/small/001";
  const auto begin = "node 1 of 2: ranks 2 to 3; the log is " + run + "/log.";
  ASSERT_TRUE(b.err.starts_with(begin)) << b.err;
  EXPECT_TRUE(b.err.ends_with(".txt, and the first node's " + run + "/log.txt\n")) << b.err;
  const auto log = b.err.substr(begin.size() - 4 - run.size() - 1);
  EXPECT_TRUE(exists(log.substr(0, log.find(", and")))) << log;
  EXPECT_THAT(a.err, testing::Not(testing::HasSubstr("node 0 of 2")));
}

TEST(Nodes, OfTheRecipeMeetAtItsRendezvous) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const Words words{
      "run", "small.yaml", "train.duration=2 steps",
      "parallel={mode: ddp, devices: 4, nodes: 2, rendezvous: 127.0.0.1:" + free_port() + "}"};
  Program first(with_words(words, {"--node-rank", "0"}), folder.path(), environment());
  Program second(with_words(words, {"--node-rank", "1"}), folder.path(), environment());
  const auto a = first.wait(), b = second.wait();
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(b.code, 0) << b.err;
  EXPECT_THAT(read(folder / "runs/small/001/run.json"), testing::HasSubstr("\"ranks\": 4"));
}

// Two nodes of two ranks, whose groups are those of `group: 2`; a run on one node has none, and
// resumes what they saved.
TEST(Nodes, AreGroupsThatHaveAModelTogether) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const Words words{"run",
                    "small.yaml",
                    "train.duration=4 steps",
                    "checkpoint.every=2 steps",
                    "train.threads=1",
                    "parallel={mode: fsdp, devices: 4, rendezvous: 127.0.0.1:" + free_port() + "}"};
  const auto on_nodes = with_words(words, {"--nodes", "2", "parallel.shard.group=node"});
  Program first(with_words(on_nodes, {"--node-rank", "0"}), folder.path(), environment());
  Program second(with_words(on_nodes, {"--node-rank", "1"}), folder.path(), environment());
  const auto a = first.wait(), b = second.wait();
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(b.code, 0) << b.err;
  EXPECT_THAT(a.err, testing::HasSubstr("parallel.shard.group node: groups of 2 ranks\n"));
  EXPECT_THAT(read(folder / "runs/small/001/recipe.yaml"), testing::HasSubstr("group: node"));
  ASSERT_EQ(run(with_words(words, {"~parallel.rendezvous", "parallel.shard.group=2"}),
                folder.path(), environment())
                .code,
            0);
  EXPECT_TRUE(read(folder / "runs/small/001/checkpoints/step-00000004/model.safetensors") ==
              read(folder / "runs/small/002/checkpoints/step-00000004/model.safetensors"));
  const auto resumed = run({"resume", "runs/small/001", "--checkpoint", "step-00000002", "--nodes",
                            "1", "parallel.devices=2"},
                           folder.path(), environment());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err,
              testing::HasSubstr("parallel.shard.group node: all ranks, which are on one node\n"));
}

TEST(Nodes, WithoutTheirRankAreRefused) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended = run(kTwoNodes, folder.path(), environment());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, testing::HasSubstr("error: --nodes is 2, and no launcher says which of "
                                            "them this is: add '--node-rank K'"));
  EXPECT_FALSE(exists(folder / "runs"));
}

const Words kUnbounded{"run",
                       "small.yaml",
                       kSmallModel,
                       "train.duration=1000000 steps",
                       "eval.every=1000000 steps",
                       "checkpoint.every=1000000 steps",
                       "log.every=1 step",
                       "--auto-resume"};

/// Until a step after `step`, then the warning.
Ended warned_after(Program& program, int step) {
  while (program.running() && reached_step(program.err()) <= step)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  program.signal(SIGUSR1);
  return program.wait();
}

TEST(AutoResume, SavesAndEndsAtSigusr1AndResumesWhenTheCommandIsGivenAgain) {
  for (const Words& parallel : {Words{}, Words{"parallel.mode=ddp", "parallel.devices=2"}}) {
    const Folder folder;
    write(folder / "small.yaml", small_recipe());
    Program first(with_words(kUnbounded, parallel), folder.path(), environment());
    const auto ended = warned_after(first, 5);
    EXPECT_EQ(ended.code, 128 + SIGUSR1) << ended.err;
    const auto saved = list(folder / "runs/small/001/checkpoints");
    ASSERT_EQ(saved.size(), 1);
    const auto step = std::stoi(saved[0].substr(5));
    Program again(with_words(kUnbounded, parallel), folder.path(), environment());
    const auto second = warned_after(again, step);
    EXPECT_EQ(second.code, 128 + SIGUSR1) << second.err;
    EXPECT_THAT(second.err, testing::HasSubstr(
                                "resuming the unfinished run in runs/small/001 from " + saved[0]));
    EXPECT_FALSE(exists(folder / "runs/small/002"));
    EXPECT_THAT(read(folder / "runs/small/001/run.json"),
                testing::HasSubstr("\n  \"exit_code\": 138,\n"));
  }
}

TEST(AutoResume, OfACompleteRunStartsAnother) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const Words words{"run", "small.yaml", "train.duration=2 steps", "--auto-resume"};
  for (const auto* number : {"001", "002"}) {
    const auto ended = run(words, folder.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(exists(folder / "runs/small/" + number));
  }
}

TEST(AutoResume, WithoutItSigusr1SavesAndTheRunGoesOn) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program(Words(kUnbounded.begin(), kUnbounded.end() - 1), folder.path(), environment());
  while (program.running() && reached_step(program.err()) < 5)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  program.signal(SIGUSR1);
  while (program.running() && program.err().find("  saved ") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(program.running());
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().code, 128 + SIGTERM);
}

TEST(AutoResume, IsForOneRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended =
      run({"run", "small.yaml", "--repeat", "2", "--auto-resume"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, testing::HasSubstr("--auto-resume is for one run"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
