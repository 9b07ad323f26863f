// `data show`: samples as the network gets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

/// Width and height in a PNG's header.
std::pair<int, int> size_of_png(const std::string& file) {
  const auto number = [&](std::size_t at) {
    int value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = 256 * value + static_cast<unsigned char>(file.at(at + i));
    return value;
  };
  EXPECT_EQ(file.substr(1, 3), "PNG");
  return {number(16), number(20)};
}

TEST(DataShow, DrawsTransformedImagesOnOneSheet) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto show = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"data", "show", "small.yaml"};
    words.insert(words.end(), more.begin(), more.end());
    const auto ended = run(words, folder.path(), environment());
    EXPECT_EQ(ended.code, 0) << ended.err;
  };
  show({});
  EXPECT_EQ(size_of_png(read(folder / "samples.png")), std::pair(4 * 144, 4 * 168));
  show({"--count", "3", "--output", "a.png"});
  show({"--count", "3", "--output", "b.png"});
  show({"--count", "3", "--output", "c.png", "seed=7"});
  show({"--count", "500", "--split", "valid", "--output", "valid.png"});
  EXPECT_EQ(size_of_png(read(folder / "a.png")), std::pair(2 * 144, 2 * 168));
  EXPECT_EQ(read(folder / "a.png"), read(folder / "b.png"));
  EXPECT_NE(read(folder / "a.png"), read(folder / "c.png"));
  EXPECT_EQ(size_of_png(read(folder / "valid.png")), std::pair(7 * 144, 6 * 168));  // all 40
}

TEST(DataShow, PrintsRowsOfATableInItsOwnWords) {
  const Folder folder;
  write(folder / "t.csv", "age,work,rich\n39,State,no\n,Private,yes\n50,?,no\n28,Private,yes\n");
  write(folder / "t.yaml", R"(recipe: 1
model: {type: tabular}
data: {type: csv_table, file: t.csv, target: rich, categories: [work], continuous: [age],
       missing: ["?", ""], valid: {fraction: null, rows: [3]}, sampler: sequential}
batch: {global: 2}
)");
  const auto ended = run({"data", "show", "t.yaml"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "sample       target  work     age_na  age\n"
            "t.csv row 0  no      State    False   39\n"
            "t.csv row 1  yes     Private  True    44.5\n"  // the median
            "t.csv row 2  no      #na#     False   50\n");
  const auto valid = run({"data", "show", "t.yaml", "--split", "valid"}, folder.path());
  EXPECT_EQ(valid.out,
            "sample       target  work     age_na  age\n"
            "t.csv row 3  yes     Private  False   28\n");
}

TEST(DataShow, PrintsATextsTokensOnOneLine) {
  const Folder folder;
  write(folder / "reviews/train/pos/1.txt", "Bad\n\nfilm \x1b[31m");
  write(folder / "reviews/test/pos/1.txt", "Good");
  const auto ended =
      run({"data", "show", test::in_source("recipes/imdb-bag.yaml"), "data.root=reviews",
           "data.cache=cache", "data.vocabulary.min_freq=1", "data.sampler={type: sequential}"},
          folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::HasSubstr("xxbos xxmaj bad \\n\\n film"));
  EXPECT_THAT(ended.out, testing::Not(testing::HasSubstr("\x1b")));
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 2) << ended.out;
}

/// The numbers of a row of `data stats`, summed over its splits.
std::vector<double> row_sums(const std::string& table, const std::string& name) {
  std::vector<double> sums;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != name) continue;
    std::vector<double> numbers;
    while (words >> word)
      if (word != "train" && word != "valid") numbers.push_back(std::stod(word));
    sums.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) sums[i] += numbers[i];
  }
  return sums;
}

// 64 x 64 pixels of each of the 6 images are of a class or void.
TEST(DataStats, CountPixelsAndCoordinates) {
  const Folder folder;
  for (const std::string kind : {"masks", "points"})
    ASSERT_EQ(run({"data", "make", kind, kind, "--train", "4", "--val", "2"}, folder.path()).code,
              0);
  const auto masks =
      run({"data", "stats", test::in_source("recipes/camvid-tiny.yaml"), "data.root=masks"},
          folder.path());
  ASSERT_EQ(masks.code, 0) << masks.err;
  double pixels = 0;
  for (const auto* name : {"ground", "circle", "square", "star", "(void)"})
    for (const double count : row_sums(masks.out, name)) pixels += count;
  EXPECT_EQ(pixels, 6 * 64 * 64) << masks.out;
  const auto points = run(
      {"data", "stats", test::in_source("recipes/biwi-tiny.yaml"), "data.file=points/points.csv"},
      folder.path());
  ASSERT_EQ(points.code, 0) << points.err;
  for (const auto* name : {"x1", "y1", "x2", "y2"}) {
    const auto sums = row_sums(points.out, name);
    ASSERT_EQ(sums.size(), 5U) << points.out;
    EXPECT_EQ(sums[0], 6) << name;
    EXPECT_EQ(sums[1], 0) << "missing";
    EXPECT_GE(sums[3], -2) << "the lowest of each split is -1 or more";
    EXPECT_LE(sums[4], 2);
  }
}

TEST(DataShow, RefusesWhatIsNoSplitAndNoCount) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto split =
      run({"data", "show", "small.yaml", "--split", "test"}, folder.path(), environment());
  EXPECT_EQ(split.code, 2);
  EXPECT_THAT(split.err, testing::HasSubstr("error: --split: 'test' is not one of train, valid\n"));
  const auto count =
      run({"data", "show", "small.yaml", "--count", "none"}, folder.path(), environment());
  EXPECT_EQ(count.code, 2);
  EXPECT_THAT(count.err,
              testing::HasSubstr("error: --count: 'none' is not a whole number above 0\n"));
  EXPECT_FALSE(exists(folder / "samples.png"));
}

TEST(DataMake, InterruptedLeavesNothingBehind) {
  const Folder folder;
  std::filesystem::create_directory(folder / "data");
  Program program({"data", "make", "shapes", "data/shapes", "--train", "100000"}, folder.path());
  while (program.running() && list(folder / "data").empty()) ::usleep(10'000);
  program.signal(SIGINT);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("asked to stop (SIGINT): nothing was made\n"));
  EXPECT_TRUE(list(folder / "data").empty());
}

}  // namespace
}  // namespace ddptrain::end_to_end
