// What a curve of losses on growing rates says. Expected rates are fastai's of the same lists.
#include "optim/lr_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Rates 1, 2, 4, ... for these losses.
LrCurve doubling(std::vector<double> losses) {
  LrCurve curve{{}, std::move(losses)};
  for (std::size_t i = 0; i < curve.losses.size(); ++i)
    curve.rates.push_back(std::ldexp(1.0, static_cast<int>(i)));
  return curve;
}

TEST(LrFinder, TrustsNeitherTheFirstTenthNorTheLastFive) {
  const auto part = trusted_part(doubling({9, 8, 7, 6, 5, 4, 3, 2}), 10);
  EXPECT_THAT(part.losses, ElementsAre(8, 7));
  EXPECT_THAT(part.rates, ElementsAre(2, 4));
}

TEST(LrFinder, TrustsAllUpToNaNWhereItEndedThere) {
  const double nan = std::nan("");
  EXPECT_THAT(trusted_part(doubling({9, 8, 7, 6, nan}), 20).losses, ElementsAre(7, 6));
  EXPECT_THAT(trusted_part(doubling({9, nan, 7}), 20).losses, SizeIs(0));
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THAT(trusted_part(doubling({9, 8, 7, 6, 5, 4, 3, infinite}), 10).losses,
              ElementsAre(8, 7));
}

TEST(LrFinder, TrustsNothingOfAShortCurve) {
  EXPECT_THAT(trusted_part(doubling({3, 2, 1}), 6).losses, SizeIs(0));
  EXPECT_FALSE(suggest_rates({}).valley);
}

TEST(LrFinder, SuggestsWhatTheCurveIsLongEnoughFor) {
  const auto one = suggest_rates(doubling({3}));
  EXPECT_EQ(one.valley, 1);
  EXPECT_EQ(one.minimum, 0.1);
  EXPECT_FALSE(one.steep);
  const auto two = suggest_rates(doubling({3, 2}));
  EXPECT_EQ(two.steep, 1);
  EXPECT_EQ(two.valley, 2);  // index -1: Python's last
  EXPECT_FALSE(two.slide);
}

TEST(LrFinder, TheSteepestFallCountsByFactorOfTheRate) {
  const auto found = suggest_rates({{1, 2, 16, 32}, {10, 9, 6.5, 5.2}});
  EXPECT_EQ(found.steep, 16);  // 1.3 in one doubling; 2.5 in three, 1 in one
}

TEST(LrFinder, AFallWithoutEndIsCutAtItsHalf) {
  std::vector<double> falling(30);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] = 100 - static_cast<double>(i);
  const auto found = suggest_rates(doubling(falling));
  EXPECT_EQ(found.valley, std::ldexp(1.0, 14));  // max_start is -1: -1 + int(10) + int(5)
  EXPECT_EQ(found.slide, std::ldexp(1.0, 14));   // equal slopes: lrs[-16]
}

}  // namespace
}  // namespace ddptrain
