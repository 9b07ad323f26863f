// Every collective against plain loops: members are threads that share an arena.
#include "distributed/arena/arena_group.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include <latch>

#include "base/error.h"
#include "launch/arena/rank_arena.h"
#include "launch/failure.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;

using PlayGroup = std::function<void(Group&)>;

std::vector<std::exception_ptr> play_groups(int size, const PlayGroup& play,
                                            std::chrono::milliseconds timeout = 10min) {
  const auto arena = std::make_shared<RankArena>(size);
  std::vector<int> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(rank);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      test::take_one_thread();
      try {
        const auto group =
            make_arena_group(arena, {GroupPurpose::gradients, "gradients", ranks, rank, timeout});
        play(*group);
      } catch (...) {
        thrown[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  return thrown;
}

void play_all_groups(int size, const PlayGroup& play) {
  for (const auto& error : play_groups(size, play))
    if (error) std::rethrow_exception(error);
}

/// Different for each rank and element, with sums that are rounded.
at::Tensor numbers_of(int rank, std::int64_t elements, at::ScalarType type) {
  auto numbers = at::empty({elements}, at::kDouble);
  auto* to = numbers.data_ptr<double>();
  for (std::int64_t i = 0; i < elements; ++i)
    to[i] = static_cast<double>((i + 1) * (rank + 3) % 1009 - 500) / 7;
  return numbers.to(type);
}

/// From rank 0 on, rounded to the type after each addition.
at::Tensor sum_in_order(int size, std::int64_t elements, at::ScalarType type) {
  auto sum = numbers_of(0, elements, type);
  for (int rank = 1; rank < size; ++rank)
    sum = sum.to(at::kDouble).add(numbers_of(rank, elements, type).to(at::kDouble)).to(type);
  return sum;
}

// A block has 2^18 numbers of four bytes. (The sum of two numbers in double, rounded to a shorter
// type, is that of the type itself: double has more than twice as many digits.)
TEST(ArenaGroup, SumsInRankOrderWhateverTheSizeAndType) {
  const std::int64_t block = ArenaSeat::kBlock / 4;
  for (const int size : {2, 3, 4, 5})
    play_all_groups(size, [&](Group& group) {
      for (const auto elements : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7},
                                  std::int64_t{16385}, block - 1, 3 * block + 11})
        for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kLong}) {
          auto value = numbers_of(group.rank(), elements, type);
          group.all_reduce(value);
          EXPECT_TRUE(at::equal(value, sum_in_order(size, elements, type)))
              << size << " members, " << elements << " of " << type;
        }
    });
}

// (1e16 + 1) - 1e16 is 0 in this order and in doubles; other orders give 1 or 2.
TEST(ArenaGroup, SumsDoublesInRankOrder) {
  play_all_groups(3, [](Group& group) {
    for (const std::int64_t elements : {1, 100'000}) {
      const auto own = std::vector<double>{1e16, 1, -1e16}[static_cast<std::size_t>(group.rank())];
      auto value = at::full({elements}, own, at::kDouble);
      group.all_reduce(value);
      EXPECT_EQ(value.abs().max().item<double>(), 0);
    }
  });
}

TEST(ArenaGroup, SumsBuffersInPlaceWithTheSameBits) {
  for (const int size : {2, 3, 4, 5})
    play_all_groups(size, [&](Group& group) {
      const std::int64_t elements = 400'003;
      for (const auto type : {at::kFloat, at::kBFloat16}) {
        auto buffer = group.buffer(elements, at::TensorOptions(type));
        EXPECT_EQ(buffer.count_nonzero().item<std::int64_t>(), 0);
        for (int repeat = 0; repeat < 3; ++repeat) {
          buffer.copy_(numbers_of(group.rank(), elements, type));
          group.all_reduce(buffer);
          EXPECT_TRUE(at::equal(buffer, sum_in_order(size, elements, type)));
        }
        auto part = buffer.narrow(0, 17, 300'000);
        part.copy_(numbers_of(group.rank(), 300'000, type));
        group.all_reduce(part);
        EXPECT_TRUE(at::equal(part, sum_in_order(size, 300'000, type)));
      }
    });
}

Cuts uneven_cuts(std::int64_t elements, int members) {
  auto cuts = even_cuts(elements, members);
  if (members > 2) cuts[1] = cuts[2];  // one has no elements
  return cuts;
}

TEST(ArenaGroup, ScattersSumsOfSlices) {
  for (const int size : {2, 3, 5})
    play_all_groups(size, [&](Group& group) {
      const std::int64_t elements = 700'001;
      const auto expected = sum_in_order(size, elements, at::kFloat);
      const auto cuts = uneven_cuts(elements, size);
      auto buffer = group.buffer(elements, at::TensorOptions(at::kFloat));
      buffer.copy_(numbers_of(group.rank(), elements, at::kFloat));
      auto plain = buffer.clone();
      for (auto* flat : {&buffer, &plain}) {
        group.reduce_scatter_async(*flat, cuts)->wait();
        EXPECT_TRUE(
            at::equal(slice_of(*flat, cuts, group.rank()), slice_of(expected, cuts, group.rank())));
      }
    });
}

TEST(ArenaGroup, GathersSlicesAndExchangesThem) {
  for (const int size : {2, 3, 5})
    play_all_groups(size, [&](Group& group) {
      const std::int64_t elements = 900'001;
      const auto cuts = uneven_cuts(elements, size);
      auto flat = numbers_of(group.rank(), elements, at::kFloat);
      auto parts = at::empty({size, slice_of(flat, cuts, group.rank()).numel()}, at::kFloat);
      group.exchange_async(flat, cuts, parts)->wait();
      group.all_gather_async(flat, cuts)->wait();
      for (int rank = 0; rank < size; ++rank) {
        const auto theirs = numbers_of(rank, elements, at::kFloat);
        EXPECT_TRUE(at::equal(slice_of(flat, cuts, rank), slice_of(theirs, cuts, rank)));
        EXPECT_TRUE(at::equal(parts[rank], slice_of(theirs, cuts, group.rank())));
      }
    });
}

TEST(ArenaGroup, BroadcastsGathersAndSends) {
  play_all_groups(3, [](Group& group) {
    for (const std::int64_t elements : {0, 1, 700'001}) {
      auto value = numbers_of(group.rank(), elements, at::kDouble);
      group.broadcast(value, 2);
      EXPECT_TRUE(at::equal(value, numbers_of(2, elements, at::kDouble)));
      if (group.rank() == 0) group.send(numbers_of(0, elements, at::kDouble), 1);
      if (group.rank() != 1) continue;
      group.receive(value, 0);
      EXPECT_TRUE(at::equal(value, numbers_of(0, elements, at::kDouble)));
    }
    const auto turned = numbers_of(group.rank(), 6, at::kFloat).view({2, 3}).t();
    const auto all = group.all_gather(turned);
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_TRUE(at::equal(all[static_cast<std::size_t>(rank)],
                            numbers_of(rank, 6, at::kFloat).view({2, 3}).t()));
    auto strided = turned.clone();
    group.all_reduce(strided);
    EXPECT_TRUE(at::equal(strided, sum_in_order(3, 6, at::kFloat).view({2, 3}).t()));
    EXPECT_EQ(group.transport(), kSharedMemory);
  });
}

// As buckets leave during the backward pass, and are waited for at its end.
TEST(ArenaGroup, MakesWhatBeganBeforeItFirst) {
  play_all_groups(4, [](Group& group) {
    std::vector<at::Tensor> values;
    for (const std::int64_t elements : {300'000, 5, 20'000, 1})
      values.push_back(numbers_of(group.rank(), elements, at::kFloat));
    std::vector<std::unique_ptr<Pending>> pending;
    for (auto& value : values) pending.push_back(group.all_reduce_async(value));
    pending[2]->wait();
    auto number = at::scalar_tensor(1.0);
    group.all_reduce(number);
    pending[0].reset();
    for (const auto& value : values)
      EXPECT_TRUE(at::equal(value, sum_in_order(4, value.numel(), at::kFloat)));
    EXPECT_EQ(number.item<double>(), 4);
  });
}

TEST(ArenaGroup, SaysThatAnotherRankHasEnded) {
  const auto thrown = play_groups(3, [](Group& group) {
    if (group.rank() == 1) throw Error(Exit::data, "a file is torn");
    auto value = at::full({100'000}, 1.0);
    group.all_reduce(value);
  });
  for (const int rank : {0, 2}) {
    const auto failure = failure_of(thrown[static_cast<std::size_t>(rank)], rank);
    EXPECT_EQ(failure.message, "rank " + std::to_string(rank) +
                                   ", all_reduce of the gradients group: another rank has ended; "
                                   "its own message says why");
    EXPECT_TRUE(failure.secondary);
    EXPECT_EQ(failure.code, Exit::device);
  }
}

TEST(ArenaGroup, SaysThatAnotherRankDoesNotAnswer) {
  std::latch answered(1);
  const auto thrown = play_groups(
      2,
      [&](Group& group) {
        if (group.rank() == 1) return answered.wait();
        try {
          group.barrier();
        } catch (...) {
          answered.count_down();
          throw;
        }
      },
      50ms);
  EXPECT_EQ(test::message_of(thrown[0]),
            "rank 0, barrier of the gradients group: another rank did not answer within 50 ms: it "
            "hangs, or 'parallel.timeout.step' is too short");
}

}  // namespace
}  // namespace ddptrain
