// `run --folds`: ordinary runs that hold out one fold after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

/// Whether y is above a line of a and b; 60 rows, a third of them "yes".
std::string table() {
  std::string csv = "a,b,who,y\n";
  for (int i = 0; i < 60; ++i)
    csv += std::to_string(i * 7 % 11) + "," + std::to_string(i * 5 % 13) + ",p" +
           std::to_string(i % 6) + (i * 7 % 11 > 6 ? ",yes\n" : ",no\n");
  return csv;
}

const std::string kFoldedTable = R"(name: small
data: {type: csv_table, file: t.csv, target: y, drop: [who]}
model: {type: tabular, layers: [4]}
optimizer: {type: sgd, lr: 0.1}
train: {duration: 8 steps, threads: 1}
batch: {global: 8}
eval: {every: 4 steps}
parallel: {device: cpu}
)";

const std::vector<std::string> kWords{"run", "small.yaml", "--folds", "3"};

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void write_data(const Folder& folder) {
  write(folder / "t.csv", table());
  write(folder / "small.yaml", kFoldedTable);
}

std::vector<std::string> cells(const std::string& line, char separator) {
  std::vector<std::string> found;
  std::istringstream rest(line);
  for (std::string cell; std::getline(rest, cell, separator);)
    if (!cell.empty()) found.push_back(cell);
  return found;
}

/// The number that a run's metrics.csv has last for a metric.
double last_of(const std::string& run, const std::string& metric) {
  std::istringstream lines(read(run + "/metrics.csv"));
  std::string line;
  std::getline(lines, line);
  std::vector<std::string> header;
  std::istringstream head(line);
  for (std::string cell; std::getline(head, cell, ',');) header.push_back(cell);
  double last = std::nan("");
  while (std::getline(lines, line)) {
    std::istringstream row(line);
    std::string cell;
    for (std::size_t i = 0; i < header.size() && std::getline(row, cell, ','); ++i)
      if (header[i] == metric && !cell.empty()) last = std::stod(cell);
  }
  return last;
}

/// A row of the first table: what stands under each metric.
std::map<std::string, double> row_of(const std::string& out, const std::string& name) {
  std::istringstream lines(out);
  std::string line;
  std::vector<std::string> header;
  while (std::getline(lines, line)) {
    const auto row = cells(line, ' ');
    if (row.empty()) continue;
    if (row[0] == "fold" && header.empty()) header = row;
    if (row[0] != name || header.empty()) continue;
    std::map<std::string, double> values;
    for (std::size_t i = 1; i < row.size() && i < header.size(); ++i)
      values[header[i]] = row[i] == "-" ? std::nan("") : std::stod(row[i]);
    return values;
  }
  return {};
}

TEST(Folds, EndWithTheMeanOfTheirRuns) {
  const Folder folder;
  write_data(folder);
  const auto ended = run(kWords, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto mean = row_of(ended.out.substr(ended.out.find("last weights: ")), "mean");
  ASSERT_TRUE(mean.contains("valid/loss")) << ended.out;
  for (const auto& [metric, value] : mean) {
    double sum = 0;
    for (const auto* number : {"001", "002", "003"})
      sum += last_of(folder / ("runs/small/" + std::string(number)), metric);
    EXPECT_NEAR(value, sum / 3, 1e-4 * std::abs(value)) << metric << "\n" << ended.out;
  }
  EXPECT_FALSE(exists(folder / "runs/small/repeat.json"));
}

TEST(Folds, AreRunsThatCanBeMadeAlone) {
  const Folder folder;
  write_data(folder);
  ASSERT_EQ(run(kWords, folder.path(), environment()).code, 0);
  const auto second = folder / "runs/small/002";
  const auto alone = run({"run", second + "/recipe.yaml"}, folder.path(), environment());
  ASSERT_EQ(alone.code, 0) << alone.err;
  const std::string weights = "/checkpoints/step-00000008/model.safetensors";
  EXPECT_FALSE(read(second + weights).empty());
  EXPECT_EQ(read(second + weights), read(folder / ("runs/small/004" + weights)));
  EXPECT_NE(read(second + weights), read(folder / ("runs/small/001" + weights)));
}

TEST(Folds, GoOnWhereTheProgramWasKilled) {
  const Folder whole, cut;
  write_data(whole);
  write_data(cut);
  const auto words = with(kWords, {"train.duration=1000 steps", "eval.every=1000 steps",
                                   "checkpoint.every=200 steps", "log.every=1 step"});
  const auto wanted = run(words, whole.path(), environment());
  ASSERT_EQ(wanted.code, 0) << wanted.err;
  {
    Program program(words, cut.path(), environment());
    const auto begun = [&] {
      return read(cut / "runs/small/002/log.txt").find("step 3/") != std::string::npos;
    };
    while (program.running() && !begun()) ::usleep(1'000);
    program.signal(SIGKILL);
    ASSERT_EQ(program.wait().code, 128 + SIGKILL);
  }
  const auto again = run(words, cut.path(), environment());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("fold 1: done in"));
  EXPECT_THAT(again.err, HasSubstr("fold 2: resuming in"));
  EXPECT_EQ(again.out, wanted.out);
  EXPECT_FALSE(exists(cut / "runs/small/004"));
}

TEST(Folds, TakeGroupsFromTheCommandLine) {
  const Folder folder;
  write_data(folder);
  const auto grouped = with(kWords, {"--fold-by", "groups"});
  const auto ended =
      run(with(grouped, {"data.valid.fold.groups=who"}), folder.path(), environment());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto refused = run(grouped, folder.path(), environment());
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_THAT(refused.err,
              HasSubstr("command line:2: error: data.valid.fold.by: nothing says which group a "
                        "sample is of; name a column in data.valid.fold.groups\n"));
}

TEST(Folds, AreCheckedBeforeTheFirstStarts) {
  const Folder folder;
  write_data(folder);
  write(folder / "t.csv", table() + "1,1,p0,maybe\n1,2,p0,maybe\n");
  const auto ended = run(kWords, folder.path(), environment());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("class 'maybe' has 2 samples, fewer than 3 folds: fold 3 of 3"));
  EXPECT_FALSE(exists(folder / "runs/small/001/metrics.csv"));
}

TEST(Folds, AreRefusedWhereTheyMeanNothing) {
  const Folder folder;
  write_data(folder);
  const auto complaint = [&](const std::vector<std::string>& words) {
    const auto ended = run(words, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(complaint({"run", "small.yaml", "--folds", "1"}),
              HasSubstr("error: --folds: '1' is not a number of folds from 2 to 1000\n"));
  EXPECT_THAT(complaint(with(kWords, {"--repeat", "2"})),
              HasSubstr("error: --folds and --repeat exclude each other; '--folds' with another "
                        "'seed=' repeats all folds\n"));
  EXPECT_THAT(complaint({"run", "small.yaml", "--fold-by", "random"}),
              HasSubstr("error: --fold-by needs --folds, the number of folds\n"));
  EXPECT_THAT(complaint(with(kWords, {"data={type: mnist, root: x}"})),
              HasSubstr("error: --folds: data 'mnist' has no 'valid.fold'; its held-out samples "
                        "are a part of their own\n"));
  EXPECT_FALSE(exists(folder / "runs"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
