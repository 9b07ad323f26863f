#include "base/mean.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ddptrain {
namespace {

TEST(MeanOf, NumbersHasTheDeviationOfASample) {
  const auto mean = mean_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(mean.value, 5);
  EXPECT_DOUBLE_EQ(mean.deviation, std::sqrt(32.0 / 7));
}

// The sum of three times 0.1 divided by three is not 0.1.
TEST(MeanOf, EqualNumbersIsThatNumberWithoutADeviation) {
  ASSERT_NE((0.1 + 0.1 + 0.1) / 3, 0.1);
  EXPECT_EQ(mean_of({0.1, 0.1, 0.1}).value, 0.1);
  EXPECT_EQ(mean_of({0.1, 0.1, 0.1}).deviation, 0);
}

TEST(MeanOf, OneNumberHasNoDeviationAndNoneHasNoMean) {
  EXPECT_EQ(mean_of({3}).value, 3);
  EXPECT_TRUE(std::isnan(mean_of({3}).deviation));
  EXPECT_TRUE(std::isnan(mean_of({}).value));
  EXPECT_TRUE(std::isnan(mean_of({1, std::nan("")}).value));
  EXPECT_TRUE(std::isnan(mean_of({1, std::nan("")}).deviation));
}

}  // namespace
}  // namespace ddptrain
