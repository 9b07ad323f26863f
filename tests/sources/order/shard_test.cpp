// The laws of sharding, for every small case.
#include "sources/order/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/error.h"

namespace ddptrain {
namespace {

using Positions = std::vector<std::int64_t>;

Positions of_step(std::int64_t length, const ShardPlan& plan, std::size_t step) {
  Positions all;
  for (std::int64_t rank = 0; rank < plan.world; ++rank) {
    const auto steps = shard(length, plan, rank);
    for (const auto& micro : steps.at(step))
      all.insert(all.end(), micro.positions.begin(), micro.positions.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

Positions range(std::int64_t first, std::int64_t last) {
  Positions all(static_cast<std::size_t>(last - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

/// Calls `law` for every small length, world, global batch and accumulation.
template <class Law>
void for_all(const Law& law) {
  for (std::int64_t length : {0, 1, 2, 5, 12, 13, 31})
    for (std::int64_t world : {1, 2, 3, 4})
      for (std::int64_t global : {1, 2, 5, 12})
        for (std::int64_t accumulate : {1, 2, 3})
          for (bool drop_last : {false, true})
            law(length, ShardPlan{.world = world,
                                  .global = global,
                                  .accumulate = accumulate,
                                  .drop_last = drop_last});
}

TEST(Cut, SizesDifferByAtMostOneLargerFirst) {
  EXPECT_EQ(cut(10, 4), (Positions{0, 3, 6, 8, 10}));
  EXPECT_EQ(cut(2, 3), (Positions{0, 1, 2, 2}));
  EXPECT_EQ(cut(0, 2), (Positions{0, 0, 0}));
}

TEST(GlobalBatch, EveryStepHoldsItsOwnRowsOfTheOrderOnceWhateverTheWorld) {
  for_all([](std::int64_t length, const ShardPlan& plan) {
    const auto steps = shard(length, plan, 0).size();
    const auto kept = plan.drop_last ? length / plan.global * plan.global : length;
    EXPECT_EQ(static_cast<std::int64_t>(steps), (kept + plan.global - 1) / plan.global);
    for (std::size_t k = 0; k < steps; ++k) {
      const auto first = static_cast<std::int64_t>(k) * plan.global;
      EXPECT_EQ(of_step(length, plan, k), range(first, std::min(first + plan.global, kept)));
    }
  });
}

TEST(GlobalBatch, FirstRowSaysWhereAMicroBatchStandsInItsStep) {
  for_all([](std::int64_t length, const ShardPlan& plan) {
    for (std::int64_t rank = 0; rank < plan.world; ++rank) {
      const auto steps = shard(length, plan, rank);
      for (std::size_t k = 0; k < steps.size(); ++k)
        for (const auto& micro : steps[k])
          for (std::size_t i = 0; i < micro.positions.size(); ++i)
            EXPECT_EQ(micro.positions[i], static_cast<std::int64_t>(k) * plan.global +
                                              micro.first_row + static_cast<std::int64_t>(i));
    }
  });
}

TEST(GlobalBatch, RanksShareEachMicroStepOfASingleRank) {
  for_all([](std::int64_t length, const ShardPlan& plan) {
    auto alone = plan;
    alone.world = 1;
    const auto expected = shard(length, alone, 0);
    for (std::size_t k = 0; k < expected.size(); ++k)
      for (std::size_t a = 0; a < expected[k].size(); ++a) {
        Positions together;
        for (std::int64_t rank = 0; rank < plan.world; ++rank) {
          const auto mine = shard(length, plan, rank).at(k).at(a).positions;
          together.insert(together.end(), mine.begin(), mine.end());
        }
        EXPECT_EQ(together, expected[k][a].positions);
      }
  });
}

TEST(Shard, GivesEveryRankTheSameMicroSteps) {
  for (auto layout : {Layout::global_batch, Layout::contiguous, Layout::interleaved,
                      Layout::round_robin, Layout::split})
    for (bool pad : {false, true})
      for_all([&](std::int64_t length, ShardPlan plan) {
        plan.layout = layout;
        plan.pad = pad;
        plan.global *= plan.world * plan.accumulate;
        const auto first = shard(length, plan, 0);
        for (std::int64_t rank = 1; rank < plan.world; ++rank) {
          const auto other = shard(length, plan, rank);
          ASSERT_EQ(other.size(), first.size());
          for (std::size_t k = 0; k < first.size(); ++k)
            EXPECT_EQ(other[k].size(), first[k].size());
        }
      });
}

TEST(Shard, PeersLayoutsSaySoWhereABatchDoesNotDivide) {
  ShardPlan plan{.layout = Layout::round_robin, .world = 4, .global = 10};
  EXPECT_THAT([&] { shard(20, plan, 0); },
              testing::ThrowsMessage<Error>(
                  "data.loader.shard: 'round_robin' cannot cut a global batch of 10 into 4 equal "
                  "ones (ranks x accumulate); 'global_batch' can"));
}

/// What a rank evaluates, as (first position, rows, place in its streams).
std::vector<std::array<std::int64_t, 3>> evaluated(const EvaluationCut& cut, std::int64_t rank,
                                                   std::int64_t world) {
  std::vector<std::array<std::int64_t, 3>> all;
  for (const auto& micro : evaluation_batches(cut, rank, world))
    all.push_back({micro.positions.front(), std::ssize(micro.positions), micro.first_row});
  return all;
}

TEST(EvaluationBatches, AreDealtRoundRobinAndCutTheSameForEveryWorld) {
  const EvaluationCut cut{10, 4};
  EXPECT_THAT(evaluated(cut, 0, 1), testing::ElementsAre(std::array<std::int64_t, 3>{0, 4, 0},
                                                         std::array<std::int64_t, 3>{4, 4, 0},
                                                         std::array<std::int64_t, 3>{8, 2, 0}));
  EXPECT_THAT(evaluated(cut, 0, 2), testing::ElementsAre(std::array<std::int64_t, 3>{0, 4, 0},
                                                         std::array<std::int64_t, 3>{8, 2, 0}));
  EXPECT_THAT(evaluated(cut, 3, 4), testing::IsEmpty());
}

TEST(EvaluationBatches, OfAStreamStayOnOneRank) {
  const EvaluationCut cut{12, 2, 6};  // two pieces of six streams, in three groups
  EXPECT_THAT(evaluated(cut, 0, 2), testing::ElementsAre(std::array<std::int64_t, 3>{0, 2, 0},
                                                         std::array<std::int64_t, 3>{4, 2, 4},
                                                         std::array<std::int64_t, 3>{6, 2, 0},
                                                         std::array<std::int64_t, 3>{10, 2, 4}));
  EXPECT_THAT(evaluated(cut, 1, 2), testing::ElementsAre(std::array<std::int64_t, 3>{2, 2, 2},
                                                         std::array<std::int64_t, 3>{8, 2, 2}));
  for (std::int64_t index = 0; index < 6; ++index)
    EXPECT_EQ(cut.rank_of(index, 2), index % 3 % 2) << index;
}

}  // namespace
}  // namespace ddptrain
