// Splits and folds of masks, points and ratings: what a run reports is what `eval` of the saved
// checkpoint prints, to the last bit, and the same on ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "end_to_end/tasks/split_runs.h"
#include "end_to_end/tasks/task_runs.h"

namespace ddptrain::end_to_end {
namespace {

const std::vector<std::string> kAlone{"parallel.mode=none", "parallel.devices=1"};
const std::vector<std::string> kTwoRanks{"parallel.mode=ddp", "parallel.devices=2"};

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class TaskSplits : public TaskRuns {
 protected:
  /// What `eval` prints of a run's last checkpoint, on one device.
  Scores scored(const std::string& number, const Words& more = {}) const {
    const auto ended = call(joined(joined({"eval", run_folder(number)}, kAlone), more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return printed_scores(ended.out);
  }
};

/// That each score is the number that a row has for it.
void expect_in_row(const Scores& row, const Scores& scores) {
  EXPECT_GE(scores.size(), 3U);
  for (const auto& [name, value] : scores) {
    ASSERT_TRUE(row.contains(name)) << name;
    EXPECT_EQ(row.at(name), value) << name;
  }
}

void expect_close(const Scores& row, const Scores& other) {
  ASSERT_EQ(row.size(), other.size());
  for (const auto& [name, value] : row) {
    if (name.find('/') == std::string::npos || name == "best/step") continue;  // it has no mean
    EXPECT_NEAR(std::stod(value), std::stod(other.at(name)), 1e-9) << name;
  }
}

TEST_P(TaskSplits, AreScoredAsEvalScoresThem) {
  const Words splits{
      "eval.splits={half: {valid: {fraction: 0.5, seed: 3}}, some: {valid: {fraction: 0.3}}}",
      "eval.test={valid: {fraction: 0.4, seed: 7}}", "eval.batch=4"};
  for (const auto& how : {kTwoRanks, kAlone}) {
    const auto ended = train(joined(splits, how));
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  const auto row = last_row(run_folder("001"));
  expect_in_row(row, scored("001"));
  for (const std::string split : {"half", "some"}) {
    const auto scores = scored("001", {"--split", split});
    EXPECT_TRUE(scores.contains(split + "/loss"));
    expect_in_row(row, scores);
  }
  expect_close(row, last_row(run_folder("002")));
  const auto test = scored("001", {"--split", "test"});
  EXPECT_GE(test.size(), 3U);
  for (const auto& [name, value] : test) {
    EXPECT_EQ(in_record(run_folder("001"), name), value) << name;
    EXPECT_NEAR(std::stod(in_record(run_folder("002"), name)), std::stod(value), 1e-9) << name;
  }
  EXPECT_EQ(times(read(run_folder("001/events.jsonl")), "{\"event\":\"test\""), 1);
}

/// The rows of folds.csv by their first cell.
std::map<std::string, Scores> fold_rows(const std::string& path) {
  std::istringstream lines(read(path));
  std::string line;
  std::getline(lines, line);
  const auto names = cells(line);
  std::map<std::string, Scores> rows;
  while (std::getline(lines, line)) {
    const auto values = cells(line);
    for (std::size_t i = 1; i < names.size() && i < values.size(); ++i)
      rows[values[0]][names[i]] = values[i];
  }
  return rows;
}

TEST_P(TaskSplits, OfFoldsAreScoredAsEvalScoresThem) {
  const auto table = run_folder("folds.csv");
  ASSERT_EQ(train(joined({"--folds", "3", "eval.batch=4"}, kAlone)).code, 0);
  const auto alone = fold_rows(table);
  const auto ended = train(joined({"--folds", "3", "eval.batch=4"}, kTwoRanks));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto rows = fold_rows(table);
  ASSERT_EQ(rows.size(), 5U);  // with mean and deviation
  for (const auto& [name, row] : rows) expect_close(row, alone.at(name));
  for (const std::string fold : {"1", "2", "3"}) {
    const auto number = "00" + std::to_string(3 + std::stoi(fold));
    const auto scores = scored(number);
    expect_in_row(rows.at(fold), scores);
    expect_in_row(last_row(run_folder(number)), scores);
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, TaskSplits,
                         testing::Values(masks_task(), points_task(), ratings_task()), task_name);

/// Images 0003.png, 0013.png, ... belong together: no group is in both parts of a fold.
TEST(FoldsOfMasks, KeepTheFilesOfAPatternsGroupTogether) {
  const Folder folder;
  make_masks(folder);
  write(folder / "task.yaml", kEveryTask + masks_task().recipe);
  const Words words{
      "run", "task.yaml", "--folds", "3", "--fold-by", "groups", "train.duration=1 step"};
  const auto ended = run(joined(words, {"data.valid.fold.groups=(\\d)\\.png$"}), folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(fold_rows(folder / "runs/masks/folds.csv").size(), 5U);
  const auto refused = run(joined(words, {"data.valid.fold.groups=\\d\\.png$"}), folder.path());
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err,
              testing::HasSubstr(
                  "error[bad-value]: data.valid.fold.groups: '\\d\\.png$' has no group ( )\n"));
  const auto missed = run(joined(words, {"data.valid.fold.groups=([1-9])\\.png$"}), folder.path());
  EXPECT_EQ(missed.code, 3) << missed.err;
  EXPECT_THAT(missed.err,
              testing::HasSubstr(
                  "error: data.valid.fold.groups: 'images/train/0000.png' does not match\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
