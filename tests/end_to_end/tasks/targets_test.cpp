// Problems of targets and outputs that only the data and the model show are reported before the
// first step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

const char* const kTable = R"(recipe: 1
name: table
model: {type: tabular, layers: [4]}
data: {type: csv_table, file: table.csv, target: price}
batch: {global: 8}
train: {duration: 2 steps, threads: 1}
parallel: {device: cpu}
eval: {batch: 7}
loss: mse
metrics: [mae]
)";

/// Forty rows; the last column is what to predict: numbers, or names of two or three classes.
std::string table(const std::string& target) {
  std::string csv = "size,kind,price\n";
  for (int i = 0; i < 40; ++i) {
    const auto name = "c" + std::to_string(i % (target == "three" ? 3 : 2));
    csv += std::to_string(i * 7 % 11) + "," + (i % 3 ? "flat" : "house") + "," +
           (target == "numbers" ? std::to_string(0.5 * i) : name) + "\n";
  }
  return csv;
}

Ended train(const std::string& target, std::vector<std::string> more) {
  const Folder folder;
  write(folder / "table.csv", table(target));
  write(folder / "table.yaml", kTable);
  more.insert(more.begin(), {"run", "table.yaml"});
  return run(more, folder.path());
}

void expect_refused(const Ended& ended, const std::string& why) {
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr(why));
  EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("step 1")));
}

TEST(Targets, OfTheRightKindTrain) {
  EXPECT_EQ(train("numbers", {"metrics=[mae, r2, spearman]"}).code, 0);
  EXPECT_EQ(
      train("two", {"loss=bce_with_logits", "model.num_classes=1", "metrics=[roc_auc_binary]"})
          .code,
      0);
}

/// What the run's recipe says, and the header of its metrics.
std::pair<std::string, std::string> settled(const std::string& target) {
  const Folder folder;
  write(folder / "table.csv", table(target));
  write(folder / "table.yaml", kTable);
  const auto ended = run({"run", "table.yaml", "~loss", "~metrics"}, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto run_folder = folder / "runs/table/001/";
  const auto metrics = read(run_folder + "metrics.csv");
  EXPECT_EQ(run({"resume", "runs/table/001", "train.duration=4 steps"}, folder.path()).code, 0);
  return {read(run_folder + "recipe.yaml"), metrics.substr(0, metrics.find('\n'))};
}

TEST(Targets, DecideTheLossAndTheMetricsThatARecipeLeavesOut) {
  const auto [numbers, number_metrics] = settled("numbers");
  EXPECT_THAT(numbers, testing::HasSubstr("\nloss: {type: mse, scale: 1}  # auto\n"));
  EXPECT_EQ(number_metrics,
            "step,epoch,samples,train/loss,train/lr,valid/loss,valid/rmse,valid/mae");
  const auto [names, name_metrics] = settled("three");
  EXPECT_THAT(names, testing::HasSubstr("\nloss:\n  type: cross_entropy\n  weight: []\n"));
  EXPECT_EQ(name_metrics, "step,epoch,samples,train/loss,train/lr,valid/loss,valid/accuracy");
}

TEST(Targets, OfAnotherKindAreRefusedWithTheMetricsPlace) {
  expect_refused(train("numbers", {"metrics=[mae, accuracy]"}),
                 "metrics[1]: 'accuracy' takes classes, and the targets are numbers; write for "
                 "example rmse, mae or r2");
  const auto ended = train("two", {"loss=cross_entropy"});
  expect_refused(ended, "metrics[0]: 'mae' takes numbers, and the targets are classes");
  EXPECT_THAT(ended.err, testing::HasSubstr(
                             "table.yaml:10:11: error: metrics[0]: 'mae' takes numbers, and the "
                             "targets are classes; write for example accuracy, f1 or roc_auc\n"));
}

TEST(Targets, OfAnotherKindAreRefusedByTheLoss) {
  expect_refused(train("two", {"metrics=[accuracy]"}),
                 "loss: 'mse' takes numbers, and the targets are classes; write for example "
                 "cross_entropy");
}

TEST(Targets, OfThreeClassesAreNotForTwo) {
  expect_refused(train("three", {"loss=cross_entropy", "metrics=[accuracy, jaccard_coeff]"}),
                 "metrics[1]: 'jaccard_coeff' is for two classes, and there are 3; write "
                 "jaccard_coeff_multi");
  expect_refused(train("three", {"loss=cross_entropy", "metrics=[f1]"}),
                 "metrics[0]: f1.average: binary is for two classes, and 3 are given");
}

TEST(Outputs, ThatAreTooFewAreRefused) {
  expect_refused(
      train("three", {"loss=cross_entropy", "metrics=[accuracy]", "model.num_classes=2"}),
      "loss: 'cross_entropy' wants an output for each of the 3 classes, and the model gives 2");
  expect_refused(
      train("two", {"loss=bce_with_logits", "metrics=[accuracy]", "model.num_classes=1"}),
      "metrics[0]: 'accuracy' wants an output for each of the 2 classes, and the model gives 1");
}

TEST(Outputs, OfAnotherShapeThanTheTargetsAreRefused) {
  expect_refused(train("numbers", {"model.num_classes=3"}),
                 "loss: targets of shape [1] do not fit outputs of shape [1, 3]; the model has to "
                 "give one output for each number of a target");
}

TEST(Targets, AreRefusedOnceByAllRanks) {
  const auto ended =
      train("numbers", {"metrics=[accuracy]", "parallel.mode=ddp", "parallel.devices=2"});
  expect_refused(ended, "metrics[0]: 'accuracy' takes classes");
}

}  // namespace
}  // namespace ddptrain::end_to_end
