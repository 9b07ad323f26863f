// What `plan` says is what `run` does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "cli/plot.h"
#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

const std::string kPlanned = test::in_source("configs/quickstart.yaml");

TEST(Plan, CountsTheStepsAndTheBytesOfTheRun) {
  const Folder folder;
  const std::vector<std::string> recipe{kPlanned, "data.root=" + shapes(),
                                        "train.duration=1 epoch"};
  auto words = recipe;
  words.insert(words.begin(), "plan");
  const auto planned = Program(words, folder.path()).wait();
  ASSERT_EQ(planned.code, 0) << planned.err;
  words[0] = "run";
  words.push_back("~expect");
  const auto ran = Program(words, folder.path()).wait();
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(planned.out, HasSubstr("global 64 = micro 16 x accumulate 2 x 2 devices"));
  const auto line = planned.out.find("\nsteps");
  ASSERT_NE(line, std::string::npos) << planned.out;
  const auto steps = std::to_string(std::stoi(planned.out.substr(line + 6)));
  const auto saved = "step-" + std::string(8 - steps.size(), '0') + steps;
  EXPECT_TRUE(exists(folder / ("runs/quickstart/001/checkpoints/" + saved))) << planned.out;
  EXPECT_FALSE(exists(folder / "runs/quickstart/002"));
}

TEST(Plan, TellsSeveralNumbersOfDevices) {
  const Folder folder;
  const auto planned =
      Program({"plan", kPlanned, "--devices", "1,2,4", "--samples", "1000"}, folder.path()).wait();
  ASSERT_EQ(planned.code, 0) << planned.err;
  for (const std::string batch :
       {"micro 32 x accumulate 2 x 1 device", "micro 16 x accumulate 2 x 2 devices",
        "micro 8 x accumulate 2 x 4 devices"})
    EXPECT_THAT(planned.out, HasSubstr(batch));
  EXPECT_THAT(
      planned.out,
      HasSubstr("\nsteps          210 (13,440 samples), 15 an epoch\n"));  // 1000 samples in whole
                                                                           // batches of 64
}

TEST(Plan, RefusesABatchThatDevicesCannotShare) {
  const Folder folder;
  const auto refused =
      Program({"plan", kPlanned, "--devices", "5", "--samples", "1000"}, folder.path()).wait();
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("cannot be split over 5 devices"));
}

/// The rates of the steps that a run logged, one evaluation a step, as `plan` draws them.
std::string logged_curve(const std::string& metrics) {
  Plot curve{{}, {}, "step", "learning rate", false, 10};
  const auto lines = split(trim(metrics), '\n');
  const auto names = split(lines[0], ',');
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    curve.x.push_back(parse_number(cells.at(column("step"))).value() - 1);
    curve.y.push_back(parse_number(cells.at(column("train/lr"))).value());
  }
  return plot(curve);
}

void expect_the_planned_rates(const std::vector<std::string>& overrides, std::size_t steps) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  std::vector<std::string> words{
      "plan",           "small.yaml", kSmallModel, "eval.every=1 step", "optimizer.lr_batch=64",
      "train.threads=1"};
  words.insert(words.end(), overrides.begin(), overrides.end());
  const auto planned = run(words, folder.path(), environment());
  ASSERT_EQ(planned.code, 0) << planned.err;
  words[0] = "run";
  const auto ran = run(words, folder.path(), environment());
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto metrics = read(folder / "runs/small/001/metrics.csv");
  ASSERT_EQ(split(trim(metrics), '\n').size(), steps + 1) << metrics;
  EXPECT_THAT(planned.out, HasSubstr(logged_curve(metrics)));
}

TEST(Plan, DrawsTheRatesOfEachStage) {
  expect_the_planned_rates({"~train.duration",
                            "train.stages=[{duration: 3 steps, lr: 0.04}, {duration: 1 epoch, "
                            "schedule: {type: one_cycle}}, {duration: 2 steps, lr: {from: 0.001, "
                            "to: 0.02}, schedule: linear}]"},
                           12);
}

TEST(Plan, DrawsTheRateThatIsHeldForAnAverage) {
  expect_the_planned_rates({"schedule=linear", "train.duration=10 steps",
                            "train.swa={start: 4 steps, every: 2 steps, lr: 0.02, over: 3 steps}"},
                           10);
}

TEST(Plan, FetchesNothing) {
  const Folder folder;
  const auto refused =
      Program({"plan", test::in_source("recipes/imagenette.yaml"), "data.root=none"}, folder.path())
          .wait();
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("error: the data are not there; 'ddptrain data get RECIPE' "
                                     "fetches them, or --samples N plans without\n"));
  EXPECT_FALSE(exists(folder / "none"));
}

// 120 samples in batches of 17 leave one, and resnet18 ends in a map of one pixel.
TEST(Plan, AndLevelDataRefuseABatchOfOneRowUnderBatchNorm) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto expect_refusal = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"batch.global=17", "data.loader.drop_last=false"});
    const auto ended = run(words, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("120 training samples an epoch in batches of 17 leave a batch "
                                     "of one row"));
    EXPECT_THAT(ended.err, HasSubstr("'data.loader.drop_last: true'"));
  };
  expect_refusal({"plan", "small.yaml"});
  expect_refusal({"validate", "small.yaml", "--level", "data"});
  expect_refusal({"run", "small.yaml"});
  const auto dropped = run({"validate", "small.yaml", "--level", "data", "batch.global=17"},
                           folder.path(), environment());
  EXPECT_EQ(dropped.code, 0) << dropped.err;
}

TEST(Plan, AndARunSayWhereCheckpointsDoNotFitOnTheDisk) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> more{"train.duration=10000000 steps", "checkpoint.every=1 step",
                                      "checkpoint.keep_last=10000000"};
  std::vector<std::string> words{"plan", "small.yaml"};
  words.insert(words.end(), more.begin(), more.end());
  const auto planned = run(words, folder.path(), environment());
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out,
              testing::ContainsRegex("\ndisk +a checkpoint [0-9.]+ MiB, up to 10000001 at once "
                                     "[0-9.]+ TiB; free [0-9.]+ [KMGT]iB, too little\n"));
  words[0] = "run";
  const auto refused = run(words, folder.path(), environment());
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("no space for the run's checkpoints in"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
