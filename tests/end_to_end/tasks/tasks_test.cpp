// Tasks whose targets are numbers or points: the same however the work is divided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "end_to_end/tasks/split_runs.h"
#include "end_to_end/tasks/task_runs.h"

namespace ddptrain::end_to_end {
namespace {

using testing::StartsWith;

/// Numbers of the scores of each row of metrics.csv.
std::vector<double> scores_in(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const auto names = cells(line);
  std::vector<double> scores;
  while (std::getline(lines, line)) {
    const auto row = cells(line);
    for (std::size_t i = 0; i < row.size(); ++i)
      if (names.at(i).starts_with("valid/")) scores.push_back(std::stod(row[i]));
  }
  return scores;
}

using NumberTasks = TaskRuns;

TEST_P(NumberTasks, ScoreTheSameWithNoneDpAndDdp) {
  const auto scores = [&](const std::vector<std::string>& more) {
    const auto ended = train(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return scores_in(read(run_folder("latest/metrics.csv")));
  };
  const auto none = scores({"parallel.mode=none"});
  ASSERT_EQ(none.size(), 6U);  // loss and two metrics of two epochs
  const auto expect_same = [&](const std::string& mode, const std::string& devices) {
    const auto other = scores({"parallel.mode=" + mode, "parallel.devices=" + devices});
    ASSERT_EQ(other.size(), none.size());
    for (std::size_t i = 0; i < none.size(); ++i)
      EXPECT_NEAR(other[i], none[i], 1e-9) << mode << " " << devices;
  };
  expect_same("dp", "2");
  for (const std::string devices : {"1", "2", "3"}) expect_same("ddp", devices);
}

TEST_P(NumberTasks, ScoreToTheLastBitOnAnyNumberOfRanks) {
  ASSERT_EQ(train({"train.precision=fp32", "eval.batch=4"}).code, 0);
  const auto one = call({"eval", run_folder("001")});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(printed_scores(one.out).size(), 3U) << one.out;
  for (const std::string devices : {"2", "3"})
    EXPECT_EQ(
        call({"eval", run_folder("001"), "parallel.mode=ddp", "parallel.devices=" + devices}).out,
        one.out)
        << devices;
}

TEST_P(NumberTasks, ResumeInMidEpochBitForBit) {
  ASSERT_EQ(train({"train.precision=fp32", "parallel.mode=ddp", "parallel.devices=2"}).code, 0);
  const auto cut = train({"train.precision=fp32", "parallel.mode=ddp", "parallel.devices=2",
                          "train.duration=6 steps"});
  ASSERT_EQ(cut.code, 0) << cut.err;
  const auto resumed = call({"resume", run_folder("002"), "train.duration=2 epochs"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string last = "001/checkpoints/step-00000008/", again = "002" + last.substr(3);
  for (const auto* file : {"model.safetensors", "optimizer.safetensors"}) {
    ASSERT_FALSE(read(run_folder(last + file)).empty()) << file;
    EXPECT_TRUE(read(run_folder(last + file)) == read(run_folder(again + file))) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, NumberTasks,
                         testing::Values(points_task(), image_numbers_task(), text_number_task()),
                         task_name);

using EveryTask = TaskRuns;

TEST_P(EveryTask, TriesOutAStepAndShowsItsSamples) {
  const auto checked = call({"validate", "task.yaml", "--level", "step"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_FALSE(exists(folder_ / "runs"));
  const auto shown = call({"data", "show", "task.yaml", "--count", "4", "--output", "s.png"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  if (!GetParam().shows_images) {
    EXPECT_EQ(std::count(shown.out.begin(), shown.out.end(), '\n'), 5) << shown.out;
    return;
  }
  EXPECT_EQ(read(folder_ / "s.png").substr(1, 3), "PNG");
}

TEST_P(EveryTask, PredictsUnderTheNamesOfItsTargets) {
  ASSERT_EQ(train({"train.duration=2 steps"}).code, 0);
  std::vector<std::string> words{"predict", run_folder("001")};
  words.insert(words.end(), GetParam().predicted.begin(), GetParam().predicted.end());
  const auto ended = call(words);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, StartsWith(GetParam().output));
  if (GetParam().name != "masks") return;
  EXPECT_THAT(read(folder_ / "out/predictions.csv"), StartsWith("path,mask,error\n"));
}

INSTANTIATE_TEST_SUITE_P(Tasks, EveryTask,
                         testing::Values(points_task(), image_numbers_task(), text_number_task(),
                                         masks_task(), ratings_task()),
                         task_name);

}  // namespace
}  // namespace ddptrain::end_to_end
