// Signals, pauses and pipes: a run that is asked to leave saves, and resumes as if it had not
// stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using Words = std::vector<std::string>;

Words on_ranks(int ranks, const Words& more) {
  Words words{"run",
              "small.yaml",
              kSmallModel,
              "~model.stem",  // which that model has not: no warnings, a test counts lines
              "~model.widen",
              "train.threads=1",
              "parallel.devices=" + std::to_string(ranks),
              std::string("parallel.mode=") + (ranks > 1 ? "ddp" : "none")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

bool reaches_step(Program& program, int step) {
  while (program.running() && reached_step(program.err()) < step)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return program.running();
}

class OnRanks : public testing::TestWithParam<int> {
 protected:
  OnRanks() { write(folder_ / "small.yaml", small_recipe()); }
  Folder folder_;
};

// The training images one by one: an evaluation of 120 batches.
TEST_P(OnRanks, ASignalEndsAnEvaluationWhichResumeRepeats) {
  const auto words =
      on_ranks(GetParam(), {"train.duration=8 steps", "eval.every=4 steps", "data.valid=train",
                            "eval.batch=1", "checkpoint.keep_best={metric: loss, mode: min}"});
  ASSERT_EQ(run(words, folder_.path(), environment()).code, 0);
  Program cut(words, folder_.path(), environment());
  ASSERT_TRUE(reaches_step(cut, 4));
  cut.signal(SIGTERM);
  const auto ended = cut.wait();
  EXPECT_EQ(ended.code, 128 + SIGTERM) << ended.err;
  const auto whole = folder_ / "runs/small/001", resumed = folder_ / "runs/small/002";
  EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("step 4  epoch 0.57  valid/loss")));
  EXPECT_TRUE(exists(resumed + "/checkpoints/step-00000004")) << ended.err;
  const auto last = run({"resume", resumed}, folder_.path(), environment());
  ASSERT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(read(whole + "/metrics.csv"), read(resumed + "/metrics.csv"));
  for (const auto* file : {"model.safetensors", "optimizer.safetensors", "state.json"})
    EXPECT_TRUE(read(whole + "/checkpoints/step-00000008/" + file) ==
                read(resumed + "/checkpoints/step-00000008/" + file))
        << file;
  EXPECT_TRUE(read(whole + "/checkpoints/best/state.json") ==
              read(resumed + "/checkpoints/best/state.json"));
}

TEST_P(OnRanks, APipeThatCloses141SavesTheRun) {
  Words words{"-c", R"("$@" 2>&1 | head -n 4 > /dev/null; echo "ended ${PIPESTATUS[0]}" >&2)",
              "bash", test::program()};
  const auto ours = on_ranks(GetParam(), {"train.duration=100000 steps", "eval.every=1 epoch"});
  words.insert(words.end(), ours.begin(), ours.end());
  const auto ended = Program(words, folder_.path(), environment(), "bash").wait();
  EXPECT_EQ(ended.err, "ended 141\n");
  const auto log = read(folder_ / "runs/small/001/log.txt");
  EXPECT_THAT(log,
              testing::HasSubstr(
                  " the reader of stderr is gone (SIGPIPE): saving a checkpoint and ending\n"));
  EXPECT_THAT(log, testing::ContainsRegex(" step [0-9]+  saved checkpoints/step-[0-9]+\n"));
  EXPECT_THAT(read(folder_ / "runs/small/001/run.json"),
              testing::HasSubstr("\n  \"exit_code\": 141,\n"));
  EXPECT_TRUE(processes_with(folder_.path()).empty());
}

enum class Sigpipe { deadly, ignored };

/// The program with an stdout without a reader from the start; its exit code comes last on stderr.
Ended unread(const Words& words, const Folder& folder, Sigpipe sigpipe = Sigpipe::deadly) {
  const std::string ignore = sigpipe == Sigpipe::ignored ? "trap '' PIPE; " : "";
  Words all{"-c", ignore + R"(exec 3> >(exit 0); wait $!; "$@" >&3; echo "ended $?" >&2)", "bash",
            test::program()};
  all.insert(all.end(), words.begin(), words.end());
  return Program(all, folder.path(), environment(), "bash").wait();
}

TEST_P(OnRanks, ResultsThatNobodyReadsDoNotLoseTheRun) {
  const auto ended = unread(on_ranks(GetParam(), {}), folder_);
  EXPECT_THAT(ended.err, testing::EndsWith("ended 141\n"));
  EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("error")));
  const auto home = folder_ / "runs/small/001";
  EXPECT_TRUE(exists(home + "/checkpoints/step-00000008"));
  EXPECT_THAT(read(home + "/log.txt"),
              testing::HasSubstr(" the reader of stdout is gone (SIGPIPE)\n"));
  EXPECT_THAT(read(home + "/run.json"), testing::HasSubstr("\n  \"exit_code\": 141,\n"));
  const auto again = run({"resume", home}, folder_.path(), environment());
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.out, testing::ContainsRegex("\nvalid/loss +[0-9.]+( +[0-9.]+)*\n"));
}

TEST_P(OnRanks, APredictionThatNobodyReadsEndsEarly) {
  ASSERT_EQ(run(on_ranks(1, {}), folder_.path(), environment()).code, 0);
  const auto devices = "parallel.devices=" + std::to_string(GetParam());
  for (const auto sigpipe : {Sigpipe::deadly, Sigpipe::ignored}) {
    const auto ended =
        unread({"predict", "runs/small/001", shapes() + "/val", "eval.batch=1", devices}, folder_,
               sigpipe);
    EXPECT_THAT(ended.err, testing::EndsWith("ended 141\n"));
    EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("error")));
    EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("predicted 40 samples")));
  }
  const auto mode = std::string("parallel.mode=") + (GetParam() > 1 ? "ddp" : "none");
  const auto ended = unread({"eval", "runs/small/001", mode, devices}, folder_);
  EXPECT_THAT(ended.err, testing::EndsWith("ended 141\n"));
}

INSTANTIATE_TEST_SUITE_P(Signals, OnRanks, testing::Values(1, 2));

TEST(Unread, ResultsEndAnyVerbAsSigpipeDoes) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const Words& words : std::vector<Words>{{"show", "small.yaml"},
                                               {"describe", "optimizer", "sgd"},
                                               {"schema"},
                                               {"validate", "small.yaml"},
                                               {"plan", "small.yaml"},
                                               {"list"},
                                               {"completion", "bash"},
                                               {"help"},
                                               {"version"},
                                               {"schema", "--help"}})
    for (const auto sigpipe : {Sigpipe::deadly, Sigpipe::ignored}) {
      const auto ended = unread(words, folder, sigpipe);
      EXPECT_EQ(ended.err, "ended 141\n") << words.at(0);
    }
}

TEST(Unread, ResultsOnAFullDiskAreAnError) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run(on_ranks(1, {}), folder.path(), environment()).code, 0);
  for (const Words& words :
       std::vector<Words>{{"schema"},
                          {"predict", "runs/small/001", shapes() + "/val"},
                          {"eval", "runs/small/001", "parallel.mode=ddp", "parallel.devices=2"}}) {
    Words all{"-c", R"(exec "$@" > /dev/full)", "bash", test::program()};
    all.insert(all.end(), words.begin(), words.end());
    const auto ended = Program(all, folder.path(), environment(), "bash").wait();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr("cannot write to stdout: No space left on device"));
  }
}

// Which of the two signals a rank notes first is up to the machine's scheduler, so that the code is
// one of the two: tests/train/requests_test.cpp shows that the first one counts.
TEST(Signals, OfSeveralRanksEndTheRunOnce) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  Program program(on_ranks(2, {"train.duration=100000 steps", "eval.every=100000 steps"}),
                  folder.path(), environment());
  ASSERT_TRUE(reaches_step(program, 3));
  const auto ranks = children_of(program.pid());
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks[1], SIGTERM);
  ::kill(ranks[0], SIGINT);
  const auto ended = program.wait();
  EXPECT_TRUE(ended.code == 128 + SIGTERM || ended.code == 128 + SIGINT) << ended.code << ended.err;
  const auto saved = ended.err.find("  saved ");
  EXPECT_NE(saved, std::string::npos) << ended.err;
  EXPECT_EQ(ended.err.find("  saved ", saved + 1), std::string::npos) << ended.err;
  EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("error")));
}

TEST(Signals, APauseLongerThanTheTimeOutDoesNotEndTheRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = on_ranks(
      2, {"train.duration=100000 steps", "eval.every=100000 steps", "parallel.timeout.step=10 s"});
  Program program(words, folder.path(), environment());
  ASSERT_TRUE(reaches_step(program, 3));
  program.signal(SIGTSTP);
  std::this_thread::sleep_for(std::chrono::seconds(12));
  const int reached = reached_step(program.err());
  program.signal(SIGCONT);
  EXPECT_TRUE(reaches_step(program, reached + 3));
  program.signal(SIGTERM);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 128 + SIGTERM) << ended.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
