#include "report/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/base64.h"
#include "report/html.h"

namespace ddptrain {
namespace {

using testing::ContainsRegex;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Smoothed, IsTheDebiasedMovingAverage) {
  // Of three values the factor is 0.6: (0.6 + 2) / 1.6, (0.36 + 1.2 + 4) / 1.96.
  EXPECT_THAT(smoothed({{1, 2, 3}, {1, 2, 4}}).y,
              ElementsAre(1, DoubleNear(1.625, 1e-12), DoubleNear(5.56 / 1.96, 1e-12)));
}

TEST(Smoothed, LeavesOutWhatIsNotFinite) {
  const auto smooth = smoothed({{1, 2, 3}, {5, NAN, 5}});
  EXPECT_THAT(smooth.x, ElementsAre(1, 3));
  EXPECT_THAT(smooth.y, ElementsAre(5, DoubleNear(5, 1e-12)));
}

TEST(Thinned, KeepsPeaksAndStaysBelowItsBound) {
  Points points;
  for (int i = 0; i < 10'000; ++i) {
    points.x.push_back(i);
    points.y.push_back(i == 4321 ? 9 : i == 7000 ? -9 : 0);
  }
  const auto kept = thinned(points, 100);
  EXPECT_LE(kept.x.size(), 150u);
  EXPECT_TRUE(std::is_sorted(kept.x.begin(), kept.x.end()));
  EXPECT_EQ(*std::max_element(kept.y.begin(), kept.y.end()), 9);
  EXPECT_EQ(*std::min_element(kept.y.begin(), kept.y.end()), -9);
}

TEST(Ticks, AreRoundNumbersWithinTheRange) {
  EXPECT_THAT(ticks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(0.13, 0.48, 4),
              ElementsAre(DoubleNear(0.2, 1e-12), DoubleNear(0.3, 1e-12), DoubleNear(0.4, 1e-12)));
  EXPECT_THAT(ticks(3, 3, 5), ElementsAre());
}

// A rate of 0.01 that was computed in two ways.
TEST(Ticks, OfARangeOfRoundingErrorsAreNone) {
  EXPECT_THAT(ticks(0.01, 0.010000000000000002, 5), ElementsAre());
  EXPECT_THAT(ticks(1, 1 + 1e-7, 4), testing::SizeIs(testing::Ge(3U)));
}

TEST(Ticks, OfARangeThatBeginsBelow0HaveNoNegative0) {
  for (const auto tick : ticks(-0.5, 10, 5)) EXPECT_FALSE(std::signbit(tick)) << tick;
}

TEST(Figure, IsEmptyWithoutAPointAndHasGapsWhereAValueIsNotKnown) {
  EXPECT_EQ(figure({"a", "step", {{"a", {{1}, {NAN}}}}}), "");
  const auto gap = figure({"a", "step", {{"a", {{1, 2, 3, 4, 5}, {1, 2, NAN, 2, 1}}}}});
  EXPECT_THAT(gap, ContainsRegex("d=\"M[0-9. ]+L[0-9. ]+M[0-9. ]+L[0-9. ]+\""));
  EXPECT_THAT(gap, Not(HasSubstr("nan")));
}

TEST(Figure, NamesAreText) {
  const auto html = figure({"<b>\"", "step", {{"</figure>'\n", {{1, 2}, {1, 2}}}}});
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_EQ(html.find("</figure>"), html.rfind("</figure>"));
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Html, EscapesMarkup) {
  EXPECT_EQ(escaped("<a b='c' d=\"&\">"), "&lt;a b=&#39;c&#39; d=&quot;&amp;&quot;&gt;");
  EXPECT_LT(name_html(std::string(10'000, 'x')).size(), 200u);
  EXPECT_THAT(name_html("a\u202eb"), Not(HasSubstr("\u202e")));
}

}  // namespace
}  // namespace ddptrain
