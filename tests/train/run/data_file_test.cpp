#include "train/run/data_file.h"

#include <gtest/gtest.h>

#include "train/small_training.h"

namespace ddptrain {
namespace {

TEST(DataFile, CountsTheSamplesOfEachClass) {
  const auto data = counts_of(test::DrawnSamples(8, {}));
  EXPECT_EQ(data.classes, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(data.splits.size(), 2u);
  EXPECT_EQ(data.splits[0].name, "train");
  EXPECT_EQ(data.splits[0].samples, 8);
  EXPECT_EQ(data.splits[1].counts, (std::vector<std::int64_t>{3, 3, 2}));  // labels 0 1 2 0 1 2 0 1
}

TEST(DataFile, NamesTheSplitsThatAreScoredToo) {
  const test::DrawnSamples data(8, {}), held_out(3, {});
  const auto splits = counts_of(data, {{"test", &held_out}}).splits;
  ASSERT_EQ(splits.size(), 3u);
  EXPECT_EQ(splits[2].name, "test");
  EXPECT_EQ(splits[2].counts, (std::vector<std::int64_t>{1, 1, 1}));
}

TEST(DataFile, LeavesOutASplitWithoutSamples) {
  EXPECT_TRUE(counts_of(test::DrawnSamples(0, {})).splits.empty());
}

}  // namespace
}  // namespace ddptrain
