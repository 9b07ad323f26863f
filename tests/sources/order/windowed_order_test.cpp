#include "sources/order/windowed_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "sources/sampler.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using Order = std::vector<std::int64_t>;

/// Shards of 1, 2, 3, ... samples: sample i is in the shard whose triangular number it is below.
std::int64_t uneven(std::int64_t sample) {
  std::int64_t shard = 0;
  for (std::int64_t end = 1; end <= sample; end += shard + 1) ++shard;
  return shard;
}

std::int64_t tens(std::int64_t sample) { return sample / 10; }

TEST(WindowedOrder, HasEverySampleOnce) {
  for (const std::int64_t window : {1, 2, 3, 7, 100})
    for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
      auto order = WindowedOrder(28, uneven, window, 5).all(epoch);
      std::sort(order.begin(), order.end());
      Order all(28);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(order, all);
    }
}

TEST(WindowedOrder, AWindowHasTheSamplesOfItsShardsAlone) {
  const WindowedOrder windowed(100, tens, 3, 1);
  EXPECT_EQ(windowed.windows(), 4);
  std::set<std::int64_t> seen;
  for (std::int64_t window = 0; window < 4; ++window) {
    std::set<std::int64_t> shards;
    const auto samples = windowed.samples_of(window, 0);
    for (const auto sample : samples) shards.insert(tens(sample));
    EXPECT_EQ(shards.size(), window < 3 ? 3 : 1);
    EXPECT_EQ(samples.size(), 10 * shards.size());
    for (const auto shard : shards) EXPECT_TRUE(seen.insert(shard).second);
  }
}

TEST(WindowedOrder, IsItsWindowsOneAfterTheOther) {
  const WindowedOrder windowed(28, uneven, 2, 3);
  Order joined;
  for (std::int64_t window = 0; window < windowed.windows(); ++window)
    for (const auto sample : windowed.samples_of(window, 4)) joined.push_back(sample);
  EXPECT_EQ(joined, windowed.all(4));
}

TEST(WindowedOrder, DiffersBetweenSeedsAndEpochs) {
  std::set<Order> seen;
  for (const std::uint64_t seed : {0, 1, 2})
    for (std::int64_t epoch = 0; epoch < 3; ++epoch)
      seen.insert(WindowedOrder(100, tens, 2, seed).all(epoch));
  EXPECT_EQ(seen.size(), 9);
}

// Each of 4 shards stands in front in a quarter of the epochs, and each sample of a window of 2
// shards of 2 at each of its 4 places: 5 standard deviations of a binomial, sqrt(n p (1-p)).
TEST(WindowedOrder, PutsEveryShardAndSampleEverywhereEquallyOften) {
  constexpr int epochs = 4000;
  const WindowedOrder windowed(
      8, [](std::int64_t i) { return i / 2; }, 2, 9);
  std::vector<int> first_shard(4), first_sample(8);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto order = windowed.all(epoch);
    ++first_sample[static_cast<std::size_t>(order[0])];
    ++first_shard[static_cast<std::size_t>(order[0] / 2)];
  }
  for (const int count : first_shard) EXPECT_NEAR(count, epochs / 4, 5 * 27.4);
  for (const int count : first_sample) EXPECT_NEAR(count, epochs / 8, 5 * 20.9);
}

TEST(WindowedOrder, TakesShardsThatASplitLeftInPieces) {
  const std::vector<std::int64_t> shards{4, 2, 4, 2, 9};
  const WindowedOrder windowed(
      5, [&](std::int64_t i) { return shards[static_cast<std::size_t>(i)]; }, 1, 0);
  EXPECT_EQ(windowed.windows(), 3);
  for (std::int64_t window = 0; window < 3; ++window) {
    std::set<std::int64_t> inside;
    for (const auto i : windowed.samples_of(window, 0))
      inside.insert(shards[static_cast<std::size_t>(i)]);
    EXPECT_EQ(inside.size(), 1);
  }
}

TEST(Shuffle, WithAWindowIsTheWindowedOrder) {
  SamplerContext context{100, {}, 6};
  context.shard = tens;
  const auto sampler = catalog<Sampler>().build(
      fragment<Sampler>(nlohmann::json{{"type", "shuffle"}, {"window", 4}}), context);
  EXPECT_EQ(sampler->order(2), WindowedOrder(100, tens, 4, 6).all(2));
}

TEST(Shuffle, AWindowIsOfDataInShards) {
  try {
    catalog<Sampler>().build(fragment<Sampler>(nlohmann::json{{"type", "shuffle"}, {"window", 4}}),
                             SamplerContext{100, {}, 6});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    EXPECT_EQ(error.option(), "data.sampler.window");
  }
}

}  // namespace
}  // namespace ddptrain
