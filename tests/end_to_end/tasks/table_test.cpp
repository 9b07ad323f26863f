// Tables through the same loop as images.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

const std::string kShipped = test::in_source("recipes/adult.yaml");

// The columns of Adult that the recipe names; some ages are missing.
std::string people(int rows) {
  const char* work[] = {"Private", "State-gov", "?"};
  const char* school[] = {"Bachelors", "HS-grad", "11th", "Masters"};
  std::string csv =
      "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,"
      "class\n";
  for (int i = 0; i < rows; ++i)
    csv += (i % 9 == 4 ? "" : std::to_string(20 + i * 7 % 50)) + "," + work[i % 3] + "," +
           std::to_string(1000 * (i * 13 % 97)) + "," + school[i % 4] + "," +
           std::to_string(9 + i % 5) + ",Divorced,Sales,Wife,White," +
           (i * 7 % 50 > 25 ? ">50K" : "<=50K") + "\n";
  return csv;
}

std::vector<std::string> words(const std::vector<std::string>& more) {
  std::vector<std::string> all{"run",
                               kShipped,
                               "data.file=adult.csv",
                               "train.duration=9 steps",
                               "batch.global=16",
                               "parallel.device=cpu",
                               "train.threads=1",
                               "eval.batch=7"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Table, TrainsAsShippedAndEvaluatesEquallyOnAnyNumberOfRanks) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  const auto ended = run(words({"model.ps=[0.1]", "model.embed_p=0.04"}), folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err,
              testing::ContainsRegex(
                  "\nstep 9  epoch 1\\.50  valid/loss [0-9.]+  valid/accuracy [01]\\.[0-9]+  "
                  "valid/f1 [01]\\.[0-9]+  valid/roc_auc_binary [01]\\.[0-9]+\n"));
  const auto one = run({"eval", "runs/adult/001"}, folder.path());
  for (const auto* devices : {"2", "3"}) {
    const auto more = run(
        {"eval", "runs/adult/001", "parallel.mode=ddp", std::string("parallel.devices=") + devices},
        folder.path());
    EXPECT_EQ(more.out, one.out) << devices << " ranks: " << more.err;
  }
}

std::string losses(const std::string& folder, const std::vector<std::string>& more) {
  auto all = words({"model.ps=[0.1]", "train.precision=fp64", "log.every=1 step",
                    "parallel.sync_bn=true", "output.dir=runs"});
  all.insert(all.end(), more.begin(), more.end());
  const auto ended = run(all, folder);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto last = list(folder + "/runs/adult").back();
  return read(folder + "/runs/adult/" + last + "/metrics.csv");
}

std::string first_row(const std::string& csv) {
  const auto line = csv.substr(csv.find('\n') + 1);
  return line.substr(0, line.find('\n'));
}

void expect_near(const std::string& row, const std::string& other, const std::string& what) {
  ASSERT_FALSE(row.empty());
  ASSERT_EQ(std::count(other.begin(), other.end(), ','), std::count(row.begin(), row.end(), ','));
  std::istringstream a(row), b(other);
  for (std::string x, y; std::getline(a, x, ',') && std::getline(b, y, ',');)
    EXPECT_NEAR(std::stod(x), std::stod(y), 1e-9) << what;
}

TEST(Table, ScoresTheSameWithNoneDpAndDdp) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  for (const auto* accumulate : {"batch.accumulate=1", "batch.accumulate=2"}) {
    const auto none = first_row(losses(folder.path(), {"parallel.mode=none", accumulate}));
    for (const auto* mode : {"dp", "ddp"})
      for (const auto* devices : {"parallel.devices=1", "parallel.devices=2"})
        expect_near(none,
                    first_row(losses(folder.path(),
                                     {std::string("parallel.mode=") + mode, devices, accumulate})),
                    mode + std::string(" ") + devices + " " + accumulate);
  }
}

TEST(Table, AccumulatedStepsEqualWholeOnesWithoutBatchNorm) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  const std::vector<std::string> plain{"model.use_bn=false", "model.bn_cont=false",
                                       "parallel.sync_bn=false"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), plain.begin(), plain.end());
    return first_row(losses(folder.path(), more));
  };
  const auto whole = with({"parallel.mode=none"});
  expect_near(whole, with({"parallel.mode=none", "batch.accumulate=4"}), "accumulated");
  expect_near(whole, with({"parallel.mode=ddp", "parallel.devices=2", "batch.accumulate=2"}),
              "ddp");
}

TEST(Table, NamesFileLineAndColumnOfABadCell) {
  const Folder folder;
  auto csv = people(120);
  csv.replace(csv.find("1000,"), 5, "much,");
  write(folder / "adult.csv", csv);
  const auto ended = run(words({}), folder.path());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err,
              testing::HasSubstr("adult.csv:9: column 'fnlwgt': '9much' is not a number; if it "
                                 "stands for a missing one, list it in data.missing\n"));
}

TEST(Table, WantsAModelForTables) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  for (const auto* model : {"model={type: resnet18}", "model={type: mlp}"}) {
    const auto ended = run(words({model}), folder.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err,
                testing::HasSubstr("' takes images, and 'csv_table' gives tables; these take them: "
                                   "collab_nn, embedding_dot_bias, tabular and others\n"));
  }
}

TEST(Table, PredictsNumbers) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  const auto ended = run(words({"data.target=age", "data.continuous=[fnlwgt, education-num]",
                                "data.missing=['', '?']", "loss=mse", "metrics=[rmse, r2]",
                                "checkpoint.keep_best=null", "model.y_range=[0, 100]"}),
                         folder.path());
  EXPECT_EQ(ended.code, 3) << ended.err;  // ages are missing, and a target must not be
  EXPECT_THAT(ended.err, testing::HasSubstr("adult.csv:6: column 'age': the target is missing; "
                                            "'target: [age]' leaves it out of loss and metrics\n"));
  const auto numbers =
      run(words({"data.target=education-num", "data.continuous=[fnlwgt, age]", "loss=mse",
                 "metrics=[rmse, r2]", "checkpoint.keep_best=null", "model.y_range=[0, 100]"}),
          folder.path());
  EXPECT_EQ(numbers.code, 0) << numbers.err;
  EXPECT_THAT(
      numbers.err,
      testing::ContainsRegex(
          "\nstep 9  epoch 1\\.50  valid/loss [0-9.]+  valid/rmse [0-9.]+  valid/r2 [-0-9.]+\n"));
}

bool has_checkpoint(const std::string& run, int step) {
  char name[32];
  std::snprintf(name, sizeof name, "/checkpoints/step-%08d", step);
  return exists(run + name);
}

/// Epochs have 6 steps and checkpoints come every 7, so each stands in mid-epoch but one in six.
void expect_killed_equals_uninterrupted(const std::vector<std::string>& parallel) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  auto all = words({"model.ps=[0.1]", "model.embed_p=0.04", "train.duration=154 steps",
                    "batch.accumulate=2", "checkpoint.every=7 steps", "eval.every=10 steps"});
  all.insert(all.end(), parallel.begin(), parallel.end());
  ASSERT_EQ(run(all, folder.path()).code, 0);
  Program program(all, folder.path());
  const auto whole = folder / "runs/adult/001", cut = folder / "runs/adult/002";
  while (program.running() && !has_checkpoint(cut, 28))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  program.signal(SIGKILL);
  ASSERT_EQ(program.wait().code, 128 + SIGKILL) << "it ended before it was killed";
  const auto resumed = run({"resume", cut}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string last = "/checkpoints/step-00000154";
  for (const auto* file : {"/model.safetensors", "/optimizer.safetensors", "/state.json"}) {
    ASSERT_FALSE(read(whole + last + file).empty()) << file;
    EXPECT_TRUE(read(whole + last + file) == read(cut + last + file)) << file;
  }
  EXPECT_EQ(read(whole + "/metrics.csv"), read(cut + "/metrics.csv"));
}

TEST(Table, ResumesInMidEpochBitForBit) {
  expect_killed_equals_uninterrupted({"parallel.mode=none"});
  expect_killed_equals_uninterrupted(
      {"parallel.mode=ddp", "parallel.devices=2", "parallel.sync_bn=true"});
}

/// A file with the columns of another in reverse order.
std::string with_reversed_columns(const std::string& csv) {
  std::istringstream lines(csv);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    for (std::size_t i = cells.size(); i-- > 0;) text += cells[i] + (i > 0 ? "," : "\n");
  }
  return text;
}

class TrainedTable : public testing::Test {
 protected:
  TrainedTable() {
    write(folder_ / "adult.csv", people(120));
    const auto ended =
        run(words({"data.valid={fraction: null, rows: [3, 50, 7]}"}), folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
  }
  Ended call(std::vector<std::string> words) const { return run(words, folder_.path()); }

  Folder folder_;
};

TEST_F(TrainedTable, EvaluatesAnotherTableWithTheStatisticsOfTraining) {
  const auto same = call({"eval", "runs/adult/001"});
  ASSERT_EQ(same.code, 0) << same.err;
  // The same validation rows next to other ones, whose statistics are far off.
  auto other = people(120);
  std::istringstream lines(other);
  std::string text, line;
  for (int row = -1; std::getline(lines, line); ++row)
    text += row < 0 || row == 3 || row == 7 || row == 50
                ? line + "\n"
                : "1000,New,9,Bachelors,700,Divorced,Sales,Wife,White,>50K\n";
  write(folder_ / "other.csv", with_reversed_columns(text));
  const auto evaluated = call({"eval", "runs/adult/001", "data.file=other.csv"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.out, same.out);
}

TEST_F(TrainedTable, NamesAColumnThatAnotherTableLacks) {
  write(folder_ / "other.csv", "age,class\n1,<=50K\n2,<=50K\n3,<=50K\n4,<=50K\n");
  const auto ended = call(
      {"eval", "runs/adult/001", "data.file=other.csv", "data.valid={fraction: 0.5, rows: []}"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("other.csv:1: no column 'workclass', which the model "
                                            "was trained on; there are 'age', 'class'\n"));
}

TEST_F(TrainedTable, RefusesToResumeWithOtherStatistics) {
  const auto ended =
      call({"resume", "runs/adult/001", "data.normalize=false", "train.duration=20 steps"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::HasSubstr("error: data.normalize: false, but the model was trained with true\n"));
}

std::vector<std::string> column(const std::string& csv, std::size_t index) {
  std::vector<std::string> cells;
  std::istringstream lines(csv);
  for (std::string line, cell; std::getline(lines, line); cells.push_back(cell)) {
    std::istringstream row(line);
    for (std::size_t i = 0; i <= index; ++i) std::getline(row, cell, ',');
  }
  return cells;
}

/// The share of right labels is the accuracy that eval prints for the same rows.
TEST_F(TrainedTable, PredictsEveryRowInOrder) {
  const auto ended = call({"predict", "runs/adult/001", "adult.csv", "--output", "out.csv"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto text = read(folder_ / "out.csv");
  EXPECT_TRUE(text.starts_with("row,label,<=50K,>50K,truth,loss,error\n")) << text;
  const auto rows = column(text, 0), labels = column(text, 1), low = column(text, 2),
             high = column(text, 3), truth = column(people(120), 9), given = column(text, 4),
             losses = column(text, 5);
  ASSERT_EQ(rows.size(), 121);
  int right = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i], std::to_string(i - 1));
    EXPECT_NEAR(std::stod(low[i]) + std::stod(high[i]), 1, 1e-12);
    EXPECT_EQ(labels[i], std::stod(low[i]) >= std::stod(high[i]) ? "<=50K" : ">50K");
    EXPECT_EQ(given[i], truth[i]);
    EXPECT_NEAR(std::stod(losses[i]), -std::log(std::stod(truth[i] == "<=50K" ? low[i] : high[i])),
                1e-4);
    if (i == 4 || i == 8 || i == 51) right += labels[i] == truth[i];
  }
  const auto scores = call({"eval", "runs/adult/001"}).out;
  const auto accuracy = std::stod(scores.substr(scores.find("valid/accuracy ") + 15));
  EXPECT_NEAR(right / 3.0, accuracy, 1e-12);
}

TEST_F(TrainedTable, PredictsWithoutATargetOrTheTableOfTrainingAndNamesWhatItCannot) {
  std::filesystem::remove(folder_ / "adult.csv");
  const std::string header =
      "workclass,age,fnlwgt,education,education-num,marital-status,occupation,relationship,race\n";
  write(folder_ / "new.csv", header + "Private,,1000,11th,9,Divorced,Sales,Wife,White\n" +
                                 "Never-met,30,1000,11th,9,Divorced,Sales,Wife,White\n");
  const auto ended = call({"predict", "runs/adult/001", "new.csv"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(column(ended.out, 0), (std::vector<std::string>{"row", "0", "1"}));
}

TEST_F(TrainedTable, ABadCellCostsItsRowAlone) {
  const std::string header =
      "workclass,age,fnlwgt,education,education-num,marital-status,occupation,relationship,race\n";
  const std::string first = "Private,40,1000,11th,9,Divorced,Sales,Wife,White\n",
                    last = "Private,50,2000,11th,9,Divorced,Sales,Wife,White\n";
  write(folder_ / "sound.csv", header + first + last);
  write(folder_ / "bad.csv",
        header + first + "Private,old,1000,11th,9,Divorced,Sales,Wife,White\n" + last);
  const auto sound = call({"predict", "runs/adult/001", "sound.csv"});
  for (const std::string devices : {"1", "2"}) {
    const std::vector<std::string> words{"predict", "runs/adult/001", "bad.csv", "eval.batch=1",
                                         "parallel.devices=" + devices};
    const auto ended = call(words);
    EXPECT_EQ(ended.code, 3) << ended.err;
    const std::string why = "bad.csv:3: column 'age': 'old' is not a number";
    EXPECT_THAT(ended.err, testing::HasSubstr("warning: " + why));
    EXPECT_THAT(ended.err, testing::HasSubstr("predicted 2 samples of 'bad.csv'"));
    EXPECT_EQ(column(ended.out, 0), (std::vector<std::string>{"row", "0", "1", "2"}));
    const auto label = column(ended.out, 1), low = column(ended.out, 2),
               error = column(ended.out, 4);
    EXPECT_TRUE(label[2].empty() && low[2].empty());
    EXPECT_TRUE(error[2].starts_with("\"" + why) || error[2].starts_with(why)) << error[2];
    const auto expected = column(sound.out, 2);
    EXPECT_NEAR(std::stod(low[1]), std::stod(expected[1]), 1e-6);
    EXPECT_NEAR(std::stod(low[3]), std::stod(expected[2]), 1e-6);
    auto skipping = words;
    skipping.push_back("--skip-bad");
    const auto skipped = call(skipping);
    EXPECT_EQ(skipped.code, 0) << skipped.err;
    EXPECT_EQ(skipped.out, ended.out);
  }
}

// Prices as they are written in much of Europe: 1.234,50 is 1234.5.
TEST(Table, PredictsNextToATruthThatIsReadAsTheDataIs) {
  const Folder folder;
  std::string csv = "rooms;area;price\n";
  for (int i = 0; i < 40; ++i)
    csv += std::to_string(i % 5 + 1) + ";" + std::to_string(20 + i) + ",5;1." +
           std::to_string(200 + i) + ",50\n";
  write(folder / "flats.csv", csv);
  write(folder / "flats.yaml", R"(recipe: 1
name: flats
model: {type: tabular, layers: [8]}
data:
  type: csv_table
  task: regression
  file: flats.csv
  csv: {separator: ;, decimal: ",", thousands: .}
  target: price
  continuous: [rooms, area]
  valid: {fraction: 0.25}
loss: {type: mse}
metrics: [mae]
batch: {global: 10}
train: {duration: 3 steps, threads: 1}
optimizer: {type: adam, lr: 1e-3}
parallel: {device: cpu}
)");
  ASSERT_EQ(run({"run", "flats.yaml"}, folder.path()).code, 0);
  write(folder / "more.csv", "rooms;area;price\n2;30,5;1.234,50\n");
  const auto ended =
      run({"predict", "runs/flats/001", "more.csv", "--format", "jsonl"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("runs/flats/001: last weights, step 3\n"));
  const auto row = nlohmann::json::parse(ended.out);
  EXPECT_EQ(row.at("truth"), "1234.50");
  const double off = row.at("value").get<double>() - 1234.5;
  EXPECT_NEAR(row.at("loss").get<double>(), off * off, 1e-6 * off * off) << ended.out;
}

TEST(Table, PredictsValuesOfARegressionWithinItsRange) {
  const Folder folder;
  ASSERT_EQ(run({"data", "make", "table", ".", "--rows", "200"}, folder.path()).code, 0);
  const auto trained =
      run({"run", test::in_source("recipes/houses.yaml"), "data.file=houses.csv", "~expect",
           "parallel.device=cpu", "train.threads=1", "train.duration=2 epochs", "output.dir=runs"},
          folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto ended = run({"predict", "runs/houses/001", "houses.csv"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto values = column(ended.out, 1);
  ASSERT_EQ(values.size(), 201);
  EXPECT_EQ(values[0], "value");
  for (std::size_t i = 1; i < values.size(); ++i) {
    EXPECT_GT(std::stod(values[i]), 0);
    EXPECT_LT(std::stod(values[i]), 1000);
  }
}

}  // namespace
}  // namespace ddptrain::end_to_end
