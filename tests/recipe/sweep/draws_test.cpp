#include "recipe/sweep/draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "recipe/sweep/sobol.h"

namespace ddptrain {
namespace {

SweepAxis values(const std::string& key, const std::vector<std::string>& texts) {
  SweepAxis axis{key, {}, false};
  for (const auto& text : texts) axis.spec.values.push_back(Node::scalar(text));
  return axis;
}

SweepAxis range(const std::string& key, double min, double max, bool log = false,
                bool whole = false) {
  SweepAxis axis{key, {}, whole};
  axis.spec.min = min;
  axis.spec.max = max;
  axis.spec.log = log;
  return axis;
}

SweepSpec spec_of(SweepMethod method, const std::vector<SweepAxis>& axes, std::int64_t trials = 0) {
  SweepSpec spec;
  spec.method = method;
  for (const auto& axis : axes) spec.keys[axis.key] = axis.spec;
  if (trials > 0) spec.trials = trials;
  return spec;
}

std::vector<std::vector<std::string>> texts_of(const std::vector<std::vector<Node>>& settings) {
  std::vector<std::vector<std::string>> texts;
  for (const auto& setting : settings) {
    auto& text = texts.emplace_back();
    for (const auto& value : setting) text.push_back(value.text);
  }
  return texts;
}

double number(const Node& node) { return *parse_number(node.text); }

// scipy.stats.qmc.Sobol(d=50, scramble=False), scipy 1.17: points, of dimensions 0, 1, 2, 3, 7,
// 20, 49.
TEST(Sobol, IsScipys) {
  const std::map<std::uint32_t, std::vector<double>> points{
      {0, {0, 0, 0, 0, 0, 0, 0}},
      {1, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}},
      {2, {0.75, 0.25, 0.25, 0.25, 0.75, 0.25, 0.75}},
      {3, {0.25, 0.75, 0.75, 0.75, 0.25, 0.75, 0.25}},
      {5, {0.875, 0.875, 0.125, 0.375, 0.375, 0.625, 0.875}},
      {9, {0.6875, 0.8125, 0.4375, 0.9375, 0.4375, 0.6875, 0.5625}},
      {15, {0.0625, 0.9375, 0.5625, 0.3125, 0.3125, 0.8125, 0.1875}},
      {1000,
       {0.2197265625, 0.0966796875, 0.5185546875, 0.6767578125, 0.8994140625, 0.5224609375,
        0.4794921875}}};
  const std::vector<int> dimensions{0, 1, 2, 3, 7, 20, 49};
  for (const auto& [index, expected] : points)
    for (std::size_t i = 0; i < dimensions.size(); ++i)
      EXPECT_EQ(sobol(index, dimensions[i]), expected[i]) << index << " " << dimensions[i];
}

// A (t, m, s)-net in base 2 with t = 0 in each dimension alone: 2^m points, one in each interval.
TEST(Sobol, HitsEveryIntervalOnce) {
  for (int dimension = 0; dimension < kSobolDimensions; ++dimension) {
    std::vector<int> hits(64);
    for (std::uint32_t index = 0; index < 64; ++index)
      ++hits[static_cast<std::size_t>(sobol(index, dimension) * 64)];
    EXPECT_EQ(std::count(hits.begin(), hits.end(), 1), 64) << dimension;
  }
}

TEST(SweepSettings, OfAGridAreAllCombinationsTheLastAxisFastest) {
  const std::vector axes{values("a", {"1", "2"}), values("b", {"x", "y", "z"})};
  const std::vector<std::vector<std::string>> expected{{"1", "x"}, {"1", "y"}, {"1", "z"},
                                                       {"2", "x"}, {"2", "y"}, {"2", "z"}};
  EXPECT_EQ(texts_of(settings_of(spec_of(SweepMethod::grid, axes), axes, 1)), expected);
  EXPECT_EQ(texts_of(settings_of(spec_of(SweepMethod::halving, axes), axes, 1)), expected);
}

TEST(SweepSettings, OfSobolAreThePointsOfItsSequence) {
  const std::vector axes{range("a", 0, 8), range("b", 1, 10000, true)};
  const auto settings = settings_of(spec_of(SweepMethod::sobol, axes, 4), axes, 1);
  const std::vector<std::vector<std::string>> expected{
      {"0", "1"}, {"4", "100"}, {"6", "10"}, {"2", "1000"}};
  EXPECT_EQ(texts_of(settings), expected);
}

TEST(SweepValue, OfARangeIsWithinItAndWholeWhereItMustBe) {
  for (const bool log : {false, true})
    for (const bool whole : {false, true}) {
      const auto axis = range("a", 1, 4, log, whole);
      std::map<double, int> seen;
      for (int i = 0; i < 1000; ++i) {
        const auto value = number(value_at(axis, i / 1000.0));
        EXPECT_GE(value, 1);
        EXPECT_LE(value, 4);
        ++seen[value];
      }
      if (!whole) continue;
      ASSERT_EQ(seen.size(), 4U);
      // P(k) is 1/4, or log((k + 1) / k) / log 5.
      for (const auto& [value, count] : seen)
        EXPECT_NEAR(count, log ? 1000 * std::log((value + 1) / value) / std::log(5) : 250, 1.5);
    }
  EXPECT_EQ(value_at(range("a", 1e-5, 1e-1, true), 0.5).text, "0.001");
}

TEST(SweepSettings, OfRandomDependOnSeedKeyAndTrialAlone) {
  const std::vector two{values("a", {"1", "2", "3"}), range("b", 0, 1)};
  const std::vector one{two[1]};
  const auto both = settings_of(spec_of(SweepMethod::random, two, 40), two, 7);
  const auto alone = settings_of(spec_of(SweepMethod::random, one, 50), one, 7);
  const auto other = settings_of(spec_of(SweepMethod::random, one, 50), one, 8);
  ASSERT_EQ(both.size(), 40U);
  int different = 0;
  for (std::size_t i = 0; i < both.size(); ++i) {
    EXPECT_EQ(both[i][1].text, alone[i][0].text);
    different += alone[i][0].text != other[i][0].text;
  }
  EXPECT_EQ(different, 40);
}

// The mean of 1000 uniform draws deviates by 1 / sqrt(12000) = 0.0091; four times that is 0.037.
TEST(SweepSettings, OfRandomAreUniform) {
  const std::vector axes{range("a", 0, 1), values("b", {"x", "y"})};
  const auto settings = settings_of(spec_of(SweepMethod::random, axes, 1000), axes, 1);
  double sum = 0;
  int x = 0;
  for (const auto& setting : settings) {
    sum += number(setting[0]);
    x += setting[1].text == "x";
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.037);
  EXPECT_NEAR(x, 500, 64);  // four deviations of a binomial
}

}  // namespace
}  // namespace ddptrain
