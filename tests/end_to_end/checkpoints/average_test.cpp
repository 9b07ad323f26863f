// `average`: several checkpoints as one file that other verbs take.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Average, OfARunsCheckpointsIsEvaluatedAndStartsAnotherRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml", "model={type: mnist_net, num_classes: auto}",
                 "checkpoint={every: 4 steps, keep_last: 5}"},
                folder.path(), environment())
                .code,
            0);
  const auto ended =
      run({"average", "runs/small/001", "--output", "mean.safetensors"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("wrote the mean of 2 models to mean.safetensors\n"));
  const auto listed = run({"average", "runs/small/001/checkpoints/step-00000004",
                           "runs/small/001/checkpoints/step-00000008", "--output", "b.safetensors"},
                          folder.path());
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(read(folder / "mean.safetensors"), read(folder / "b.safetensors"));

  const auto last = run({"eval", "runs/small/001"}, folder.path());
  const auto mean = run({"eval", "runs/small/001", "--weights", "mean.safetensors"}, folder.path());
  ASSERT_EQ(mean.code, 0) << mean.err;
  EXPECT_THAT(mean.out, testing::ContainsRegex("^valid/loss [0-9.]+\n"));
  EXPECT_NE(mean.out, last.out);
  const auto started = run(
      {"run", "small.yaml", "model={type: mnist_net, num_classes: auto, weights: mean.safetensors}",
       "train.duration=1 step"},
      folder.path(), environment());
  EXPECT_EQ(started.code, 0) << started.err;

  const auto other =
      run({"average", "mean.safetensors", "--output", "c.safetensors"}, folder.path());
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err,
              testing::HasSubstr("error: 'mean.safetensors' alone has no average; name several, or "
                                 "a run that kept several (checkpoint.keep_last=5)\n"));
  EXPECT_EQ(run({"average", "mean.safetensors", "b.safetensors"}, folder.path()).code, 2);
  EXPECT_EQ(run({"average", "nothing.safetensors", "b.safetensors", "--output", "c.safetensors"},
                folder.path())
                .code,
            3);
}

}  // namespace
}  // namespace ddptrain::end_to_end
