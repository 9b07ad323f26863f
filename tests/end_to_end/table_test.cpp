// Tables through the same loop as images.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "program.h"
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
  EXPECT_NE(ended.err.find("valid/roc_auc_binary"), std::string::npos) << ended.err;
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

TEST(Table, ScoresTheSameWithNoneDpAndDdp) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  const auto field = [](const std::string& csv) {
    const auto line = csv.substr(csv.find('\n') + 1);
    return line.substr(0, line.find('\n'));
  };
  const auto none = field(losses(folder.path(), {"parallel.mode=none"}));
  ASSERT_FALSE(none.empty());
  for (const auto* mode : {"dp", "ddp"}) {
    const auto other =
        field(losses(folder.path(), {std::string("parallel.mode=") + mode, "parallel.devices=2"}));
    ASSERT_EQ(std::count(other.begin(), other.end(), ','),
              std::count(none.begin(), none.end(), ','));
    std::istringstream a(none), b(other);
    for (std::string x, y; std::getline(a, x, ',') && std::getline(b, y, ',');)
      EXPECT_NEAR(std::stod(x), std::stod(y), 1e-9) << mode;
  }
}

TEST(Table, NamesFileLineAndColumnOfABadCell) {
  const Folder folder;
  auto csv = people(120);
  csv.replace(csv.find("1000,"), 5, "much,");
  write(folder / "adult.csv", csv);
  const auto ended = run(words({}), folder.path());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_NE(ended.err.find("column 'fnlwgt': '9much' is not a number"), std::string::npos)
      << ended.err;
}

TEST(Table, WantsAModelForTables) {
  const Folder folder;
  write(folder / "adult.csv", people(120));
  for (const auto* model : {"model={type: resnet18}", "model={type: mlp}"}) {
    const auto ended = run(words({model}), folder.path());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find("'model: tabular'"), std::string::npos) << ended.err;
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
  EXPECT_NE(ended.err.find("column 'age': the target is missing"), std::string::npos) << ended.err;
  const auto numbers =
      run(words({"data.target=education-num", "data.continuous=[fnlwgt, age]", "loss=mse",
                 "metrics=[rmse, r2]", "checkpoint.keep_best=null", "model.y_range=[0, 100]"}),
          folder.path());
  EXPECT_EQ(numbers.code, 0) << numbers.err;
  EXPECT_NE(numbers.err.find("valid/rmse"), std::string::npos) << numbers.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
