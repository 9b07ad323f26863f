// Problems with samples that are scored too, reported before anything is trained.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "end_to_end/tasks/split_runs.h"

namespace ddptrain::end_to_end {
namespace {

TEST_F(Splits, WithOtherTargetsAreRefusedAtTheirPlace) {
  write(folder_ / "numbers.csv", "a,b,side\n1,2,0.5\n2,3,1.5\n4,5,2.5\n5,6,3.5\n7,8,9.5\n");
  const auto other = start({"eval.splits.others.file=numbers.csv"});
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_THAT(other.err,
              testing::HasSubstr("numbers.csv:3: column 'side': class '1.5' is in no training row; "
                                 "'policy.on_unknown_class: skip' leaves it out\n"));
  EXPECT_THAT(other.err, testing::HasSubstr("command line:1: error: eval.splits.others: "));
  const auto missing = start({"eval.test.file=nothing.csv"});
  EXPECT_EQ(missing.code, 3) << missing.err;
  EXPECT_THAT(missing.err,
              testing::HasSubstr("/nothing.csv' is not there; put the data there, write where they "
                                 "are, or name an archive under data.source\n"));
  EXPECT_FALSE(exists(folder_ / "runs/small/001"));
}

TEST_F(Splits, HaveAsManyPointsAsTheTrainingSamples) {
  ASSERT_EQ(run({"data", "make", "points", "points", "--train", "8", "--val", "4", "--size", "24"},
                folder_.path())
                .code,
            0);
  write(folder_ / "points/one.csv",
        "path,x1,y1,split\nimages/train_0000.png,3,4,train\nimages/val_0000.png,3,4,valid\n");
  write(folder_ / "points.yaml", R"(recipe: 1
name: points
model: {type: sequential, layers: [flatten, {type: linear, out: 4}]}
data:
  type: image_points
  file: points/points.csv
  transforms: {train: [{type: resize, size: [24, 24]}], valid: [{type: resize, size: [24, 24]}]}
batch: {global: 4}
train: {duration: 1 epoch, threads: 1}
loss: mse
metrics: []
eval: {test: {file: points/one.csv}}
parallel: {device: cpu}
log: {tensorboard: false}
)");
  const auto ended = run({"run", "points.yaml"}, folder_.path());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::HasSubstr("points.yaml:12:14: error: eval.test: a sample has as target 1 point, and "
                         "in 'data' 2 points"));
}

TEST_F(Splits, AreLookedAtByEveryLevelOfValidateAndInAPlan) {
  for (const auto* level : {"data", "step"}) {
    const auto ended = run({"validate", "small.yaml", "--level", level}, folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT((ended.out + ended.err),
                testing::HasSubstr("small.yaml: eval.splits.others: 30 samples; 2 samples read\n"))
        << ended.out << ended.err;
  }
  std::filesystem::remove(folder_ / "others.csv");
  const auto ended = run({"validate", "small.yaml", "--level", "data"}, folder_.path());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT((ended.out + ended.err),
              testing::HasSubstr("small.yaml:14:20: error[data-level]: eval.splits.others.file: '" +
                                 folder_ / "others.csv" +
                                 "' is not there; put the data there, write where they are, or "
                                 "name an archive under data.source\n"))
      << ended.out << ended.err;
  write(folder_ / "others.csv", points(500, 50));
  const auto plan = run({"plan", "small.yaml"}, folder_.path());
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, testing::HasSubstr("half 60, others 30, test 36 at the end"));
}

/// YAML without where each value came from.
std::string without_comments(const std::string& yaml) {
  std::istringstream lines(yaml);
  std::string all;
  for (std::string line; std::getline(lines, line); all += line + "\n") {
    line = line.substr(0, line.find('#'));
    line.resize(line.find_last_not_of(' ') + 1);
  }
  return all;
}

TEST_F(Splits, AreTheSameInTheRecipeWithoutDefaults) {
  write(folder_ / "unseen.yaml",
        "extends: [small.yaml]\ndata: {unseen: class}\neval: {test: {unseen: missing}}\n");
  const auto minimal = run({"show", "unseen.yaml", "--minimal"}, folder_.path());
  EXPECT_EQ(times(minimal.out, "file:"), 3) << minimal.out;  // of data, others and test
  write(folder_ / "minimal.yaml", minimal.out);
  const auto compared = run({"diff", "minimal.yaml", "unseen.yaml"}, folder_.path());
  EXPECT_EQ(compared.code, 0) << compared.out << compared.err;
  EXPECT_EQ(run({"diff", "minimal.yaml", "small.yaml"}, folder_.path()).code, 1);
}

// Quick tests need no data; the splits get some of their own too.
TEST_F(Splits, AreMadeForAQuickTest) {
  for (const auto* file : {"points.csv", "others.csv", "test.csv"})
    std::filesystem::remove(folder_ / file);
  const auto ended =
      run({"test", "--quick", "small.yaml", "checkpoint.keep_best={metric: others/loss}"},
          folder_.path());
  EXPECT_EQ(ended.code, 0) << ended.err << ended.out;
}

TEST_F(Splits, ThatWereTrainedOnAreNamed) {
  const auto ended = run({"validate", "small.yaml", "--level", "data"}, folder_.path());
  EXPECT_THAT(
      (ended.out + ended.err),
      testing::HasSubstr(
          " of 60 samples are training samples of 'data', which score higher than others\n"))
      << ended.out << ended.err;
  EXPECT_EQ(times(ended.out + ended.err, "are training samples"), 1) << ended.out << ended.err;
}

// The resolved recipe is the same run again.
TEST_F(Splits, AreInTheResolvedRecipe) {
  ASSERT_EQ(start({}).code, 0);
  ASSERT_EQ(start({}, "runs/small/001/recipe.yaml").code, 0);
  EXPECT_EQ(without_comments(read(folder_ / "runs/small/001/recipe.yaml")),
            without_comments(read(folder_ / "runs/small/002/recipe.yaml")));
  EXPECT_EQ(read(folder_ / "runs/small/001/metrics.csv"),
            read(folder_ / "runs/small/002/metrics.csv"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
