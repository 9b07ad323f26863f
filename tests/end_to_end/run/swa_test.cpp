// Stochastic weight averaging from a recipe.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

const std::string kAverage =
    "train={duration: 9 steps, threads: 1, swa: {start: 3 steps, every: 2 steps, lr: 0.02, over: 2 "
    "steps}}";

std::string recipe() { return small_recipe("eval: {every: 3 steps}\n"); }

TEST(Swa, ScoresItsAverageAndEvaluatesItAgainToTheLastBit) {
  const Folder folder;
  write(folder / "small.yaml", recipe());
  const auto ended =
      run({"run", "small.yaml", kAverage, "batch.global=8"}, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(read(folder / "runs/small/001/metrics.csv"),
              testing::StartsWith("step,epoch,samples,train/loss,train/lr,valid/loss,valid/"
                                  "accuracy,valid_swa/loss,valid_swa/accuracy\n"));
  const auto one = run({"eval", "runs/small/001"}, folder.path());
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, testing::ContainsRegex("\nvalid_swa/loss [-0-9.e]+\n"));
  const auto two =
      run({"eval", "runs/small/001", "parallel.mode=ddp", "parallel.devices=2"}, folder.path());
  EXPECT_EQ(one.out, two.out) << two.err;
  const auto exported =
      run({"export", "runs/small/001", "mean.safetensors", "--ema"}, folder.path());
  EXPECT_EQ(exported.code, 0) << exported.err;
}

TEST(Swa, IsBitIdenticalWhenTheRunIsResumed) {
  const Folder folder;
  write(folder / "small.yaml", recipe());
  const std::vector<std::string> words{"run", "small.yaml", kAverage, "batch.global=8",
                                       "checkpoint={every: 5 steps, keep_last: 5}"};
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto whole = read(folder / "runs/small/001/checkpoints/step-00000009/ema.safetensors");
  ASSERT_FALSE(whole.empty());
  const auto ended =
      run({"resume", "runs/small/001", "--checkpoint", "step-00000005", "output.dir=runs"},
          folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read(folder / "runs/small/002/checkpoints/step-00000009/ema.safetensors"), whole);
}

TEST(Swa, HasStatisticsOfItsAverageAfterEarlyStopping) {
  const Folder folder;
  write(folder / "small.yaml", recipe());
  const std::vector<std::string> stopping{
      "train={duration: 9 steps, threads: 1, swa: {start: 1 step, every: 1 step}}", "eval.batch=1",
      "eval.every=2 steps",
      "callbacks=[{type: early_stopping, metric: accuracy, min_delta: 1, patience: 1}]"};
  std::vector<std::string> words{"run", "small.yaml"};
  words.insert(words.end(), stopping.begin(), stopping.end());
  const auto ended = run(words, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(read(folder / "runs/small/001/run.json"),
              testing::HasSubstr("\"result\": \"stopped: no better accuracy in 1 evaluation\""));
  const auto home = folder / "runs/small/001/checkpoints/";
  EXPECT_THAT(read(home + list(home).back() + "/ema.safetensors"),
              testing::HasSubstr("\"0.1.running_mean\""));
  words[0] = "validate";
  words.insert(words.end(), {"--level", "step"});
  EXPECT_EQ(run(words, folder.path(), environment()).code, 0);
}

TEST(Swa, RefusesWhatMakesNoAverage) {
  const Folder folder;
  write(folder / "small.yaml", recipe());
  const auto refused = [&](const std::string& train, const std::string& message) {
    const auto ended = run({"run", "small.yaml", "train=" + train}, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr(message));
  };
  refused("{duration: 8 steps, swa: {start: 6 steps, every: 100 steps}}",
          "error: train.swa: a run of 8 steps makes no average from step 6 on; an earlier 'start' "
          "or a shorter 'every' does\n");
  refused(
      "{duration: 8 steps, ema: {}, swa: {}}",
      "error[two-averages]: train.swa: a run keeps one average; remove train.ema or train.swa\n");
  refused("{duration: 8 steps, swa: {every: 5 s}}",
          "error[swa-in-seconds]: train.swa.every: averaging counts steps; write epochs, steps, "
          "samples or a share of the run\n");
  refused("{fine_tune: {epochs: 1}, swa: {lr: 0.1}}",
          "error[swa-lr]: train.swa.lr: stages have rates of their own; leave it out\n");
  refused(
      "{duration: 8 s, swa: {}}",
      "error[swa-in-seconds]: train.swa: a run measured in seconds does not know when to begin\n");
}

}  // namespace
}  // namespace ddptrain::end_to_end
