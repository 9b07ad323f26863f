#include "sources/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using Order = std::vector<std::int64_t>;

Order draw(const nlohmann::json& sampler, const SamplerContext& context, std::int64_t epoch = 0) {
  return catalog<Sampler>().build(fragment<Sampler>(sampler), context)->order(epoch);
}

Order all(std::int64_t n) {
  Order order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(Sequential, KeepsTheOrder) { EXPECT_EQ(draw("sequential", {5, {}, 1}), all(5)); }

TEST(Shuffle, IsAPermutationOfItsOwnForEachSeedAndEpoch) {
  std::set<Order> seen;
  for (std::uint64_t seed : {0, 1, 2})
    for (std::int64_t epoch : {0, 1, 2}) {
      auto order = draw("shuffle", {100, {}, seed}, epoch);
      EXPECT_EQ(order, draw("shuffle", {100, {}, seed}, epoch));
      seen.insert(order);
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, all(100));
    }
  EXPECT_EQ(seen.size(), 9);
}

TEST(Shuffle, PutsEverySampleEverywhereEquallyOften) {
  std::vector<std::vector<int>> counts(4, std::vector<int>(4));
  constexpr int epochs = 4000;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto order = draw("shuffle", {4, {}, 7}, epoch);
    for (std::size_t i = 0; i < 4; ++i) ++counts[i][static_cast<std::size_t>(order[i])];
  }
  for (const auto& row : counts)
    for (const int count : row) EXPECT_NEAR(count, epochs / 4, 5 * 27.4);  // 5 deviations
}

TEST(Partial, DrawsSomeWithoutRepeatingAny) {
  const auto order = draw({{"type", "partial"}, {"samples", 10}}, {100, {}, 1});
  EXPECT_EQ(order.size(), 10);
  EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), 10);
  EXPECT_NE(order, draw({{"type", "partial"}, {"samples", 10}}, {100, {}, 1}, 1));
  EXPECT_EQ(draw({{"type", "partial"}, {"samples", 10}}, {3, {}, 1}).size(), 3);
}

TEST(Weighted, DrawsInProportionAndNeverAtWeightZero) {
  const std::vector<double> weights{1, 0, 3, 4};
  for (const auto* rule : {"philox", "torch"}) {
    std::vector<double> counts(4);
    constexpr int epochs = 1000;
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (const auto i : draw({{"type", "weighted"}, {"order", rule}}, {4, weights, 3}, epoch))
        ++counts[static_cast<std::size_t>(i)];
    EXPECT_EQ(counts[1], 0);
    for (std::size_t i = 0; i < 4; ++i) {
      const double share = weights[i] / 8;
      const double deviation = std::sqrt(4 * epochs * share * (1 - share));
      EXPECT_NEAR(counts[i], 4 * epochs * share, 5 * deviation) << rule;
    }
  }
}

TEST(Weighted, TreatsAllAlikeWithoutWeights) {
  EXPECT_EQ(draw("weighted", {50, {}, 3}).size(), 50);
}

SamplerContext labeled(std::vector<std::int64_t> labels) {
  SamplerContext context{.size = std::ssize(labels), .weights = {}, .seed = 3};
  context.label = [labels = std::move(labels)](std::int64_t index) {
    return labels.at(static_cast<std::size_t>(index));
  };
  return context;
}

TEST(Weighted, ByClassesDrawsAllClassesAlike) {
  const nlohmann::json sampler{{"type", "weighted"}, {"by", "classes"}, {"samples", 1000}};
  EXPECT_EQ(draw(sampler, labeled({7, 7, 2, 7})),
            draw({{"type", "weighted"}, {"samples", 1000}}, {4, {1 / 3., 1 / 3., 1, 1 / 3.}, 3}));
}

TEST(Weighted, ByClassesRefusesASampleWithoutAClass) {
  EXPECT_THAT(
      [] {
        draw({{"type", "weighted"}, {"by", "classes"}}, labeled({0, -1}));
      },
      testing::ThrowsMessage<Error>(
          "data.sampler: 'by: classes' is for samples of one class each; sample 1 has not one"));
}

TEST(Weighted, RefusesWeightsThatDrawNothing) {
  EXPECT_THAT(
      [] {
        draw("weighted", {2, {0, 0}, 3});
      },
      testing::ThrowsMessage<Error>("data.sampler: all weights are 0"));
  EXPECT_THAT(
      [] {
        draw("weighted", {2, {1, -1}, 3});
      },
      testing::ThrowsMessage<Error>("data.sampler: a sample's weight is negative or not finite"));
}

}  // namespace
}  // namespace ddptrain
