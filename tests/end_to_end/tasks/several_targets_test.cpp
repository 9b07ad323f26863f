// Tables with several columns of numbers to predict, some of them missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

const char* const kFlats = R"(recipe: 1
name: flats
model: {type: tabular, layers: [12], ps: [0.2], embed_p: 0.1}
data:
  type: csv_table
  file: flats.csv
  target: [price, area]
  valid: {fraction: 0.2}
  loader: {drop_last: false}
batch: {global: 12}
train: {duration: 9 steps, threads: 1}
parallel: {device: cpu}
eval: {batch: 7}
log: {every: 1 step}
)";

/// 125 flats: 100 are trained on, 12 at a time, so the last batch of an epoch has 4. Every seventh
/// price and every eleventh area is missing, of row 77 both.
std::string flats() {
  std::string csv = "rooms,town,price,area\n";
  for (int i = 0; i < 125; ++i) {
    const int rooms = 1 + i * 7 % 5, town = i % 3;
    csv += std::to_string(rooms) + ",town " + std::to_string(town) + "," +
           (i % 7 == 0 ? "" : std::to_string(rooms * 0.5 + town)) + "," +
           (i % 11 == 0 ? "NA" : std::to_string(0.2 * rooms)) + "\n";
  }
  return csv;
}

class SeveralTargets : public testing::Test {
 protected:
  SeveralTargets() {
    write(folder_ / "flats.csv", flats());
    write(folder_ / "flats.yaml", kFlats);
  }
  Ended call(std::vector<std::string> words) const { return run(words, folder_.path()); }
  Ended train(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"run", "flats.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    return call(words);
  }
  /// metrics.csv of a new run in double precision.
  std::string scores(std::vector<std::string> more) const {
    more.insert(more.end(), {"train.precision=fp64", "parallel.sync_bn=true"});
    const auto ended = train(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return read(folder_ / ("runs/flats/" + list(folder_ / "runs/flats").back() + "/metrics.csv"));
  }

  Folder folder_;
};

void expect_equal_rows(const std::string& csv, const std::string& other, const std::string& what) {
  ASSERT_THAT(csv, testing::HasSubstr("valid/rmse,valid/mae"));
  std::istringstream a(csv.substr(csv.find('\n'))), b(other.substr(other.find('\n')));
  std::string x, y;
  for (a >> std::ws, b >> std::ws; std::getline(a, x, ',') && std::getline(b, y, ',');)
    EXPECT_NEAR(std::stod(x), std::stod(y), 1e-9) << what;
}

TEST_F(SeveralTargets, ScoreTheSameWithNoneDpAndDdp) {
  const auto none = scores({"parallel.mode=none"});
  expect_equal_rows(none, scores({"parallel.mode=dp", "parallel.devices=2"}), "dp");
  for (const std::string devices : {"1", "2", "3"})
    expect_equal_rows(none, scores({"parallel.mode=ddp", "parallel.devices=" + devices}),
                      "ddp " + devices);
}

TEST_F(SeveralTargets, EvaluateEquallyToTheLastBitOnAnyNumberOfRanks) {
  ASSERT_EQ(train({"metrics=[rmse, mae, r2, mse]"}).code, 0);
  const auto one = call({"eval", "runs/flats/001"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, testing::ContainsRegex("\nvalid/r2 [-0-9.]+\n"));
  for (const std::string devices : {"2", "3"})
    EXPECT_EQ(
        call({"eval", "runs/flats/001", "parallel.mode=ddp", "parallel.devices=" + devices}).out,
        one.out)
        << devices;
}

bool has_saved_step(const std::string& run, int step) {
  char name[32];
  std::snprintf(name, sizeof name, "/checkpoints/step-%08d", step);
  return exists(run + name);
}

TEST_F(SeveralTargets, ResumeInMidEpochBitForBit) {
  const std::vector<std::string> all{"run",
                                     "flats.yaml",
                                     "train.duration=155 steps",
                                     "checkpoint.every=7 steps",
                                     "eval.every=10 steps",
                                     "parallel.mode=ddp",
                                     "parallel.devices=2",
                                     "parallel.sync_bn=true"};
  ASSERT_EQ(call(all).code, 0);
  Program program(all, folder_.path());
  const auto whole = folder_ / "runs/flats/001", cut = folder_ / "runs/flats/002";
  while (program.running() && !has_saved_step(cut, 28))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  program.signal(SIGKILL);
  ASSERT_EQ(program.wait().code, 128 + SIGKILL) << "it ended before it was killed";
  const auto resumed = call({"resume", cut});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string last = "/checkpoints/step-00000155";
  for (const auto* file : {"/model.safetensors", "/optimizer.safetensors", "/state.json"}) {
    ASSERT_FALSE(read(whole + last + file).empty()) << file;
    EXPECT_TRUE(read(whole + last + file) == read(cut + last + file)) << file;
  }
  EXPECT_EQ(read(whole + "/metrics.csv"), read(cut + "/metrics.csv"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// price is rooms / 2 + town and area is rooms / 5: a network that learns both predicts both.
TEST_F(SeveralTargets, ArePredictedUnderTheNamesOfTheirColumns) {
  const auto ended = train({"train.duration=150 epochs", "model.ps=[0]", "model.embed_p=0",
                            "optimizer={type: adamw, lr: 0.02}", "schedule=one_cycle"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  write(folder_ / "new.csv", "town,rooms\ntown 1,4\ntown 0,1\n");
  const auto predicted = call({"predict", "runs/flats/001", "new.csv"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  const auto lines = lines_of(predicted.out);
  ASSERT_EQ(lines.size(), 3U) << predicted.out;
  EXPECT_EQ(lines[0], "row,price,area,error");
  double row = 0, price = 0, area = 0;
  ASSERT_EQ(std::sscanf(lines[1].c_str(), "%lf,%lf,%lf", &row, &price, &area), 3) << lines[1];
  EXPECT_NEAR(price, 3, 0.3);
  EXPECT_NEAR(area, 0.8, 0.3);
  ASSERT_EQ(std::sscanf(lines[2].c_str(), "%lf,%lf,%lf", &row, &price, &area), 3) << lines[2];
  EXPECT_NEAR(price, 0.5, 0.3);
  EXPECT_NEAR(area, 0.2, 0.3);
}

// An index that pandas wrote has no name, and is no truth.
TEST_F(SeveralTargets, AreComparedWithATruthWhereOneIsListed) {
  ASSERT_EQ(train({"data.target=[price]", "train.duration=2 steps"}).code, 0);
  const auto one = call({"predict", "runs/flats/001", "flats.csv"});
  EXPECT_EQ(lines_of(one.out).at(0), "row,price,truth,price_error,loss,error") << one.err;
  EXPECT_THAT(lines_of(one.out).at(1), testing::HasSubstr(",,")) << "its price is missing";
  ASSERT_EQ(train({"train.duration=2 steps"}).code, 0);
  write(folder_ / "indexed.csv", ",town,rooms\n0,town 1,4\n");
  const auto several = call({"predict", "runs/flats/latest", "indexed.csv"});
  EXPECT_EQ(lines_of(several.out).at(0), "row,price,area,error") << several.err;
}

// The loss of a row is the mean over its known targets, with mse of the squares of the errors.
TEST_F(SeveralTargets, AreEachComparedWithTheirTruth) {
  ASSERT_EQ(train({"train.duration=2 steps", "loss=mse"}).code, 0);
  const auto ended = call({"predict", "runs/flats/001", "flats.csv"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 126U);
  EXPECT_EQ(lines[0], "row,price,area,price_truth,price_error,area_truth,area_error,loss,error");
  double row = 0, price = 0, area = 0, price_truth = 0, price_error = 0, area_truth = 0,
         area_error = 0, loss = 0;
  ASSERT_EQ(std::sscanf(lines[2].c_str(), "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &row, &price, &area,
                        &price_truth, &price_error, &area_truth, &area_error, &loss),
            8)
      << lines[2];
  EXPECT_EQ(price_truth, 2.5);  // 3 rooms in town 1
  EXPECT_NEAR(price_error, price - 2.5, 1e-12);
  EXPECT_NEAR(area_error, area - 0.6, 1e-12);
  EXPECT_NEAR(loss, (price_error * price_error + area_error * area_error) / 2, 1e-5);
  double mean = 0;
  ASSERT_EQ(std::sscanf(lines[8].c_str(), "%lf,%lf,%lf,,,%lf,%lf,%lf", &row, &price, &area,
                        &area_truth, &area_error, &mean),
            6)
      << lines[8] << ": price 7 is missing";
  EXPECT_NEAR(mean, area_error * area_error, 1e-5);
  EXPECT_THAT(lines[78], testing::MatchesRegex("77,[-0-9.e]+,[-0-9.e]+,,,NA,,,"))
      << "all are missing: " << lines[78];
}

TEST_F(SeveralTargets, CountTheRowsThatHaveNone) {
  ASSERT_EQ(train({}).code, 0);
  const auto all = call({"eval", "runs/flats/latest", "--split", "all"});
  EXPECT_THAT(
      all.err,
      testing::HasSubstr(
          "last weights, step 9: scored 125 samples of the training and validation splits"));
  EXPECT_NE(all.err.find("2 of them have no target and count in no score"), std::string::npos)
      << all.err;  // rows 0 and 77
}

TEST_F(SeveralTargets, AreShownAndCounted) {
  const auto shown = call({"data", "show", "flats.yaml", "--split", "valid", "--count", "3"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  const auto title = lines_of(shown.out).at(0);
  for (const auto* word : {"price", "area", "rooms", "town"})
    EXPECT_THAT(title, testing::HasSubstr(word));
  const auto stats = call({"data", "stats", "flats.yaml"});
  ASSERT_EQ(stats.code, 0) << stats.err;
  std::int64_t known = 0, missing = 0;
  for (const auto& line : lines_of(stats.out)) {
    std::istringstream words(line);
    std::string name, split;
    std::int64_t here = 0, none = 0;
    words >> name >> split >> here >> none;
    if (name == "price") known += here, missing += none;
  }
  EXPECT_EQ(missing, 18) << stats.out;  // rows 0, 7, ..., 119
  EXPECT_EQ(known, 107) << stats.out;
}

TEST_F(SeveralTargets, OfClassesAreRefused) {
  const auto ended = train({"data.target=[price, town]"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::HasSubstr("flats.csv:2: column 'town': 'town 0' is not a number, and targets that "
                         "are listed are; a class is predicted alone: 'target: town'"));
  const auto checked = call({"validate", "flats.yaml", "data.task=classification"});
  EXPECT_EQ(checked.code, 2);
  const auto scored = call({"validate", "flats.yaml", "loss=cross_entropy"});
  EXPECT_EQ(scored.code, 2) << "a list is numbers, which the loss does not take";
  EXPECT_THAT(scored.err,
              testing::HasSubstr("error[target]: loss: 'cross_entropy' takes classes, and the "
                                 "targets are numbers; write for example mse, l1 or huber\n"));
}

TEST_F(SeveralTargets, TryOutAStep) {
  const auto ended = call({"validate", "--level", "step", "flats.yaml"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const auto tried = call({"test", "flats.yaml", "--quick"});
  EXPECT_EQ(tried.code, 0) << tried.out << tried.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
