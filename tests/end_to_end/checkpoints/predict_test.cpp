// `predict`: whatever it is given becomes rows in that order, and a bad file costs only itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using Row = std::vector<std::string>;

/// Cells without quotes, or with them around the whole cell.
std::vector<Row> rows_of(const std::string& csv) {
  std::vector<Row> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (c == '"' && quoted && csv[i + 1] == '"')
      rows.back().back() += csv[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      rows.back().emplace_back();
    else if (c == '\n' && !quoted)
      rows.push_back({""});
    else
      rows.back().back() += c;
  }
  rows.pop_back();
  return rows;
}

std::size_t column_of(const std::vector<Row>& rows, const std::string& name) {
  const auto found = std::find(rows[0].begin(), rows[0].end(), name);
  EXPECT_NE(found, rows[0].end()) << name;
  return static_cast<std::size_t>(found - rows[0].begin());
}

/// A trained net for the small shapes, and a few images with odd names.
class TrainedShapes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    write(*folder_ / "small.yaml", small_recipe());
    const auto ended =
        run({"run", "small.yaml", kSmallModel, "train.threads=1"}, folder_->path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto source = shapes() + "/val/circle/";
    for (const auto* name : {"b.png", "a, \"b\"\n.png", "x=1.png"})
      fs::copy_file(source + list(source)[0], odd(name));
    write(odd("bad.png"), "this is no image");
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string odd(const std::string& name) {
    fs::create_directories(*folder_ / "odd");
    return *folder_ / "odd/" + name;
  }
  static Ended predict(std::vector<std::string> words) {
    words.insert(words.begin(), {"predict", "runs/small/001"});
    return run(words, folder_->path());
  }

  static Folder* folder_;
};
Folder* TrainedShapes::folder_ = nullptr;

TEST_F(TrainedShapes, ArePredictedInTheOrderGivenWhateverTheirNames) {
  const std::vector<std::string> given{"odd/x=1.png", "odd/b.png", "odd/a, \"b\"\n.png"};
  const auto ended = predict(given);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto rows = rows_of(ended.out);
  ASSERT_EQ(rows.size(), 4U) << ended.out;
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(rows[i + 1][0], given[i]);
    EXPECT_EQ(Row(rows[i + 1].begin() + 1, rows[i + 1].end()),
              Row(rows[1].begin() + 1, rows[1].end()));
  }
  EXPECT_THAT(ended.err, HasSubstr("predicted 3 samples of 3 paths in "));
}

TEST_F(TrainedShapes, AreTakenFromAListToo) {
  write(*folder_ / "list.txt", "odd/b.png\n\nodd/x=1.png\r\n");
  const auto one = predict({"odd/b.png", "odd/x=1.png"});
  EXPECT_EQ(predict({"--list", "list.txt"}).out, one.out);
  EXPECT_EQ(rows_of(predict({"odd/b.png", "--list", "list.txt"}).out).size(), 4U);
  const auto none = predict({"--list", "no.txt"});
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(none.err, "error: cannot read 'no.txt': no such file or directory\n");
  EXPECT_EQ(predict({}).code, 2);
}

// One by one: kernels for other numbers of rows round otherwise on some processors.
TEST_F(TrainedShapes, CostABadOneOnlyItsOwnRow) {
  const std::vector<std::string> given{"odd/b.png", "odd/bad.png", "odd/none.png", "odd/x=1.png",
                                       "eval.batch=1"};
  const auto ended = predict(given);
  EXPECT_EQ(ended.code, 3) << ended.err;
  const auto rows = rows_of(ended.out);
  ASSERT_EQ(rows.size(), 5U) << ended.out;
  const auto error = column_of(rows, "error");
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1][error], "");
  EXPECT_EQ(rows[2][error], "'odd/bad.png' is no image; JPEG, PNG and WebP are read");
  EXPECT_EQ(rows[3][error], "cannot read 'odd/none.png': no such file or directory");
  EXPECT_EQ(rows[2][1], "");
  const auto sound = rows_of(predict({"odd/b.png", "odd/x=1.png", "eval.batch=1"}).out);
  EXPECT_EQ(rows[1], sound[1]);
  EXPECT_EQ(rows[4], sound[2]);
  EXPECT_THAT(ended.err, HasSubstr("warning: " + rows[2][error] + "\n"));
  EXPECT_THAT(ended.err, HasSubstr("warning: " + rows[3][error] + "\n"));
  EXPECT_THAT(ended.err, HasSubstr("error: 2 samples could not be read; the column 'error' says "
                                   "why, and '--skip-bad' makes that no error\n"));
  auto skipping = given;
  skipping.push_back("--skip-bad");
  const auto skipped = predict(skipping);
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  EXPECT_EQ(skipped.out, ended.out);
}

TEST_F(TrainedShapes, AreTheSameOnAnyBatchAndDevices) {
  const auto one = predict({shapes() + "/val", "train.threads=1"});
  ASSERT_EQ(one.code, 0) << one.err;
  const auto two = predict({shapes() + "/val", "train.threads=1", "parallel.devices=2",
                            "data.loader.workers=2", "policy.on_bad_sample=skip"});
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(two.out, one.out);
  const auto small =
      predict({shapes() + "/val", "train.threads=1", "batch.micro=7", "parallel.devices=3"});
  ASSERT_EQ(small.code, 0) << small.err;
  const auto rows = rows_of(one.out), others = rows_of(small.out);
  ASSERT_EQ(rows.size(), others.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], others[i][0]);
    for (std::size_t c = 2; c < 12; ++c)
      EXPECT_NEAR(std::stod(rows[i][c]), std::stod(others[i][c]), 1e-6);
  }
}

TEST_F(TrainedShapes, HaveTruthAndLossWhereFoldersAreCalledLikeClasses) {
  const auto rows = rows_of(predict({shapes() + "/val"}).out);
  const auto truth = column_of(rows, "truth"), loss = column_of(rows, "loss");
  double sum = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][truth], fs::path(rows[i][0]).parent_path().filename());
    EXPECT_NEAR(std::stod(rows[i][loss]),
                -std::log(std::stod(rows[i][column_of(rows, rows[i][truth])])), 1e-4);
    sum += std::stod(rows[i][loss]);
  }
  const auto scores = run({"eval", "runs/small/001"}, folder_->path()).out;
  const auto mean = std::stod(scores.substr(scores.find("valid/loss ") + 11));
  EXPECT_NEAR(sum / static_cast<double>(rows.size() - 1), mean, 1e-6);
  const auto without = rows_of(predict({"odd/b.png"}).out);
  EXPECT_EQ(std::count(without[0].begin(), without[0].end(), "truth"), 0);
}

TEST_F(TrainedShapes, AreThoseOfSeveralRunsInTheMean) {
  const auto other = run({"run", "small.yaml", kSmallModel, "train.threads=1", "seed=9"},
                         folder_->path(), environment());
  ASSERT_EQ(other.code, 0) << other.err;
  const std::string val = shapes() + "/val";
  const auto of = [&](std::vector<std::string> runs) {
    std::vector<std::string> words{"predict"};
    words.insert(words.end(), runs.begin(), runs.end());
    words.insert(words.end(), {val, "train.threads=1"});
    const auto ended = run(words, folder_->path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return rows_of(ended.out);
  };
  const std::string first = "runs/small/001", second = "runs/small/002";
  const auto one = of({first}), two = of({second}), both = of({first, second});
  ASSERT_EQ(one.size(), both.size());
  EXPECT_EQ(both[0], one[0]);
  const auto truth = column_of(both, "truth"), loss = column_of(both, "loss");
  for (std::size_t i = 1; i < both.size(); ++i) {
    EXPECT_EQ(both[i][0], one[i][0]);
    for (std::size_t c = 2; c < 12; ++c)
      EXPECT_NEAR(std::stod(both[i][c]), (std::stod(one[i][c]) + std::stod(two[i][c])) / 2, 1e-6);
    EXPECT_NEAR(std::stod(both[i][loss]),
                -std::log(std::stod(both[i][column_of(both, both[i][truth])])), 1e-4);
  }
}

// Each run reads images through its own transforms; what they are about must be the same.
TEST_F(TrainedShapes, AreThoseOfRunsThatPredictTheSame) {
  const auto train = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "small.yaml", kSmallModel, "train.threads=1",
                               "train.duration=2 steps", "name=" + name});
    const auto ended = run(more, folder_->path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
  };
  train("flat", {"data.transforms.valid=[{type: resize, size: [24, 40]}, {type: resize, size: "
                 "[32, 32]}]"});
  EXPECT_EQ(predict({"runs/flat/001", "odd/b.png"}).code, 0);
  fs::create_directories(*folder_ / "few/train");
  fs::create_directories(*folder_ / "few/val");
  for (const std::string side : {"/train/", "/val/"})
    for (const auto& name : {list(shapes() + side)[0], list(shapes() + side)[1]})
      fs::copy(shapes() + side + name, *folder_ / ("few" + side + name));
  train("few", {"data.root=" + *folder_ / "few"});
  const auto others = predict({"runs/few/001", "odd/b.png"});
  EXPECT_EQ(others.code, 3);
  EXPECT_THAT(others.err, HasSubstr("the classes are others, or in another order"));
}

TEST_F(TrainedShapes, AreLinesOfJsonOrTheLikeliestClasses) {
  const auto top = rows_of(predict({"odd/b.png", "--top", "2"}).out);
  EXPECT_EQ(top[0], (Row{"path", "label", "probability", "label_2", "probability_2", "error"}));
  const auto line = nlohmann::json::parse(predict({"odd/b.png", "--format", "jsonl"}).out);
  EXPECT_EQ(line.at("path"), "odd/b.png");
  EXPECT_EQ(line.at("label"), top[1][1]);
  double sum = 0;
  for (const auto& [name, probability] : line.at("probabilities").items())
    sum += probability.get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(predict({"odd/b.png", "--top", "none"}).code, 2);
  EXPECT_EQ(predict({"odd/b.png", "--top", "0"}).code, 2);
  EXPECT_EQ(predict({"odd/b.png", "--format", "xml"}).code, 2);
}

TEST_F(TrainedShapes, AreWrittenWholeOrNotAtAll) {
  ASSERT_EQ(predict({"odd/b.png", "--output", "out.csv"}).code, 0);
  EXPECT_EQ(read(*folder_ / "out.csv"), predict({"odd/b.png"}).out);
  const auto ended = predict({"odd/b.png", "--output", "none/out.csv"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("cannot write 'none/out.csv'"));
  for (const auto& name : list(folder_->path()))
    EXPECT_FALSE(name.starts_with("out.csv.")) << "a piece of a file was left: " << name;
}

TEST(PredictTexts, CostABadOneOnlyItsOwnRow) {
  const Folder folder;
  for (const std::string side : {"train", "valid"})
    for (const std::string word : {"good", "bad"})
      for (int i = 0; i < 8; ++i)
        write(folder / "texts/" + side + "/" + word + "/" + std::to_string(i) + ".txt",
              word + " film " + std::to_string(i) + " " + word + "\n");
  write(folder / "texts.yaml", R"(recipe: 1
name: texts
model: {type: bag_of_embeddings}
data:
  type: text_folder
  root: texts
  vocabulary: {min_freq: 1}
  cache: cache
batch: {global: 4}
train: {duration: 4 steps, threads: 1}
optimizer: {type: adam, lr: 1e-3}
parallel: {device: cpu}
)");
  const auto trained = run({"run", "texts.yaml"}, folder.path());
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto sound = run({"predict", "runs/texts/001", "texts/valid"}, folder.path());
  ASSERT_EQ(sound.code, 0) << sound.err;
  EXPECT_THAT(sound.out, testing::StartsWith("path,label,bad,good,truth,loss,error\n"));
  write(folder / "texts/valid/good/9.txt", "\xff\xfe no UTF-8");
  const auto ended = run({"predict", "runs/texts/001", "texts/valid"}, folder.path());
  EXPECT_EQ(ended.code, 3) << ended.err;
  const auto rows = rows_of(ended.out);
  ASSERT_EQ(rows.size(), 18U) << ended.out;
  EXPECT_EQ(rows[17][0], "good/9.txt");
  EXPECT_EQ(rows[17][4], "good");
  EXPECT_THAT(rows[17][6],
              testing::EndsWith("9.txt: not UTF-8 text (byte 1); 'invalid_utf8: replace' reads "
                                "it all the same; 'policy.on_bad_sample: skip' leaves it out"));
  const auto before = rows_of(sound.out);
  for (std::size_t i = 1; i < 17; ++i) {
    EXPECT_EQ(rows[i][0], before[i][0]);
    EXPECT_NEAR(std::stod(rows[i][2]), std::stod(before[i][2]), 1e-6);
  }
}

}  // namespace
}  // namespace ddptrain::end_to_end
