#include "distributed/row_states.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "distributed/group.h"
#include "sources/order/shard.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

/// Row r of a state is [10 r, 10 r + 1].
at::Tensor rows_from(std::int64_t first, std::int64_t count) {
  const auto column = at::arange(first, first + count, at::kDouble).mul(10).unsqueeze(1);
  return at::cat({column, column.add(1)}, 1);
}

TEST(RowStates, HaveNothingAtTheBeginningOfStreams) {
  RowStates states;
  EXPECT_FALSE(states.of({0, 4})->get("lstm").defined());
  states.of({0, 4})->set("lstm", rows_from(0, 4));
  EXPECT_TRUE(at::equal(states.of({0, 4})->get("lstm"), rows_from(0, 4)));
  states.clear();
  EXPECT_FALSE(states.of({0, 4})->get("lstm").defined());
}

TEST(RowStates, GoBackToWhatTheyWereBeforeAStepThatIsNotMade) {
  RowStates states;
  states.of({2, 3})->set("lstm", rows_from(2, 3));
  states.keep();
  states.of({2, 3})->set("lstm", rows_from(7, 3));
  states.put_back();
  EXPECT_TRUE(at::equal(states.of({2, 3})->get("lstm"), rows_from(2, 3)));
}

/// Micro-batches of 12 rows, cut twice and then between ranks, uneven where 4 ranks or 5 share
/// them.
class RowStatesOfRanks : public testing::TestWithParam<int> {};

TEST_P(RowStatesOfRanks, AreGatheredInOrderAndCutAgainInAnyWay) {
  const int ranks = GetParam();
  auto groups = make_thread_groups(ranks);
  std::vector<std::vector<NamedTensor>> gathered(groups.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < groups.size(); ++rank)
    threads.emplace_back([&, rank] {
      test::take_one_thread();
      RowStates states;
      for (std::int64_t micro = 0; micro < 2; ++micro) {
        const auto pieces = cut(6, ranks);
        const auto first = pieces[rank], count = pieces[rank + 1] - first;
        if (count == 0) continue;
        states.of({6 * micro + first, count})->set("0.cell", rows_from(6 * micro + first, count));
      }
      gathered[rank] = states.gather(*groups[rank]);
    });
  for (auto& thread : threads) thread.join();
  for (const auto& all : gathered) {
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].name, "0.cell");
    EXPECT_TRUE(at::equal(all[0].tensor, rows_from(0, 12)));
  }
  RowStates resumed;
  resumed.load(gathered.front());
  EXPECT_TRUE(at::equal(resumed.of({3, 5})->get("0.cell"), rows_from(3, 5)));
  const auto group = make_single_group();
  EXPECT_TRUE(at::equal(resumed.gather(*group)[0].tensor, rows_from(0, 12)));
}

INSTANTIATE_TEST_SUITE_P(Any, RowStatesOfRanks, testing::Values(1, 2, 3, 4, 5, 7));

TEST(RowStates, GatherNothingWhereThereIsNone) {
  const auto group = make_single_group();
  EXPECT_TRUE(RowStates().gather(*group).empty());
}

}  // namespace
}  // namespace ddptrain
