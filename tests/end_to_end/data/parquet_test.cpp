// A Parquet file from `init` to predictions; the same table in CSV gives the same (both are
// pandas': tests/golden/parquet/make.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string made_by_pandas(const std::string& name) {
  return test::in_source("tests/golden/parquet/" + name);
}

using Row = std::vector<std::string>;

/// Cells of a text without quotes.
std::vector<Row> cells_of(const std::string& csv) {
  std::vector<Row> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    auto& row = rows.emplace_back();
    std::istringstream cells(line + ",");
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}

class Parquet : public testing::Test {
 protected:
  Parquet() {
    fs::copy(made_by_pandas("people_zstd.parquet"), folder_ / "people.parquet");
    fs::copy(made_by_pandas("people.csv"), folder_ / "people.csv");
  }
  Ended call(const std::vector<std::string>& words) const { return run(words, folder_.path()); }
  /// Lines of a recipe that `init` writes of the classes of income.
  std::string drafted(const std::string& data, const std::string& recipe) const {
    const auto ended = call({"init", data, recipe, "--target", "income"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  void train(const std::string& recipe) const {
    const auto ended = call({"run", recipe, "train.duration=4 steps", "train.threads=1"});
    EXPECT_EQ(ended.code, 0) << ended.err;
  }

  const Folder folder_;
};

TEST_F(Parquet, IsDraftedAsItsCsvFileIs) {
  const auto output = drafted("people.parquet", "mine.yaml");
  EXPECT_THAT(output, HasSubstr("60 rows in 2 classes: <=50K 28, >50K 32\n"));
  EXPECT_THAT(output, HasSubstr("target: column 'income'\n"));
  EXPECT_THAT(output, HasSubstr("validation split: column 'split'\n"));
  EXPECT_THAT(output,
              HasSubstr("ddptrain predict runs/mine/latest people.parquet --checkpoint best\n"));
  drafted("people.csv", "other.yaml");
  auto expected = read(folder_ / "other.yaml");
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_THAT(expected, HasSubstr(from)) << from;
    expected.replace(expected.find(from), from.size(), to);
  };
  replace("name: other", "name: mine");
  replace("type: csv_table", "type: parquet_table");
  replace("file: people.csv", "file: people.parquet");
  EXPECT_EQ(read(folder_ / "mine.yaml"), expected);
  const auto good = call({"validate", "--level", "step", "--strict", "mine.yaml"});
  EXPECT_EQ(good.code, 0) << good.err << good.out;
}

TEST_F(Parquet, IsFoundInTheFolderThatHoldsIt) {
  fs::create_directories(folder_ / "census/data");
  fs::rename(folder_ / "people.parquet", folder_ / "census/data/people.parquet");
  EXPECT_THAT(
      drafted("census", "mine.yaml"),
      HasSubstr(
          "ddptrain predict runs/mine/latest census/data/people.parquet --checkpoint best\n"));
  EXPECT_THAT(read(folder_ / "mine.yaml"), HasSubstr("\n  file: census/data/people.parquet\n"));
  fs::copy(folder_ / "people.csv", folder_ / "census/data/people.csv");
  const auto two = call({"init", "census", "-"});
  EXPECT_EQ(two.code, 3);
  EXPECT_THAT(two.err, HasSubstr("'census' holds several tables; name one: ddptrain init "
                                 "census/data/people.csv"));
}

TEST_F(Parquet, LeavesOutColumnsOfLists) {
  const auto nested = made_by_pandas("nested.parquet");
  const auto ended = call({"init", nested, "mine.yaml"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("left out, since they hold neither numbers nor text: tags\n"));
  EXPECT_EQ(call({"validate", "--level", "data", "mine.yaml"}).code, 0);
  const auto list = call({"init", nested, "-", "--target", "tags"});
  EXPECT_EQ(list.code, 3);
  EXPECT_THAT(list.err, HasSubstr("column 'tags' holds neither numbers nor text; name another"));
}

TEST_F(Parquet, IsRefusedInOneLineWhereItIsNone) {
  write(folder_ / "text.parquet", "a,b\n1,2\n");
  const auto ended = call({"init", "text.parquet"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("text.parquet' cannot be read as Parquet: "));
}

// The program and its engine in a folder, without the library that belongs next to them.
TEST_F(Parquet, NamesThePlugInThatIsMissing) {
  const auto alone = folder_ / "ddptrain";
  fs::copy(test::program(), alone);
  fs::copy(fs::path(test::program()).parent_path() / "libddptrain_engine.so", folder_.path());
  for (const auto& words : {Row{"init", "people.parquet", "-"}, Row{"run", "mine.yaml"}}) {
    if (words[0] == "run") drafted("people.parquet", "mine.yaml");
    const auto ended = Program(words, folder_.path(), {}, alone).wait();
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(ended.err,
                HasSubstr("error: Parquet files cannot be read: libddptrain_parquet.so: cannot "
                          "open shared object file: No such file or directory\n"));
  }
}

TEST_F(Parquet, ScoresAsItsCsvFileDoes) {
  drafted("people.parquet", "mine.yaml");
  drafted("people.csv", "other.yaml");
  train("mine.yaml");
  train("other.yaml");
  EXPECT_EQ(read(folder_ / "runs/mine/001/metrics.csv"),
            read(folder_ / "runs/other/001/metrics.csv"));
  const auto one = call({"eval", "runs/mine/latest"}), other = call({"eval", "runs/other/latest"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, other.out);
  const auto two = call({"eval", "runs/mine/latest", "parallel.mode=ddp", "parallel.devices=2"});
  EXPECT_EQ(two.out, one.out) << two.err;
}

TEST_F(Parquet, IsPredictedWithTruthAndErrors) {
  drafted("people.parquet", "mine.yaml");
  train("mine.yaml");
  const auto ended = call({"predict", "runs/mine/latest", "people.parquet"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto rows = cells_of(ended.out);
  EXPECT_EQ(rows[0], (Row{"row", "label", "<=50K", ">50K", "truth", "loss", "error"}));
  const auto table = cells_of(read(folder_ / "people.csv"));
  ASSERT_EQ(rows.size(), table.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto low = std::stod(rows[i][2]), high = std::stod(rows[i][3]);
    EXPECT_EQ(rows[i][0], std::to_string(i - 1));
    EXPECT_EQ(rows[i][1], low >= high ? "<=50K" : ">50K");
    EXPECT_EQ(rows[i][4], table[i].back());
    EXPECT_NEAR(std::stod(rows[i][5]), -std::log(rows[i][4] == "<=50K" ? low : high), 1e-4);
    EXPECT_EQ(rows[i][6], "");
  }
}

// Its first five rows, with hours as text, of which row 2 has no number.
TEST_F(Parquet, ABadCellCostsItsOwnRow) {
  drafted("people.parquet", "mine.yaml");
  train("mine.yaml");
  const auto odd = made_by_pandas("people_odd.parquet");
  const auto ended = call({"predict", "runs/mine/latest", odd});
  EXPECT_EQ(ended.code, 3) << ended.err;
  const auto rows = cells_of(ended.out);
  ASSERT_EQ(rows.size(), 6U) << ended.out;
  const auto table = cells_of(read(folder_ / "people.csv"));
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][4], table[i].back());
    EXPECT_EQ(rows[i][1].empty(), i == 3);
  }
  EXPECT_THAT(ended.out, HasSubstr(odd + ": row 2, column 'hours': 'many' is not a number"));
  EXPECT_EQ(call({"predict", "runs/mine/latest", odd, "--skip-bad"}).code, 0);
}

}  // namespace
}  // namespace ddptrain::end_to_end
