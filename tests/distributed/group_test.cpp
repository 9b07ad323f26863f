#include "distributed/group.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

using test::play;
using test::play_all;

TEST(SingleGroup, KeepsWhatItIsGiven) {
  const auto group = make_single_group();
  auto value = at::arange(3, at::kDouble);
  group->all_reduce(value);
  group->broadcast(value, 0);
  EXPECT_TRUE(at::equal(value, at::arange(3, at::kDouble)));
  EXPECT_EQ(gather_text(*group, "alone"), std::vector<std::string>{"alone"});
}

TEST(ThreadGroup, SumsOverMembersInPlace) {
  play_all(3, [](World& world) {
    auto value = at::full({2}, world.rank + 1.0, at::kDouble);
    world.control->all_reduce(value);
    EXPECT_TRUE(at::equal(value, at::full({2}, 6.0, at::kDouble)));
  });
}

TEST(ThreadGroup, SumsInRankOrder) {
  // (1e16 + 1) - 1e16 is 0 in this order and in doubles; any other order gives 1.
  play_all(3, [](World& world) {
    auto value = at::scalar_tensor(std::vector<double>{1e16, 1, -1e16}[world.rank], at::kDouble);
    world.control->all_reduce(value);
    EXPECT_EQ(value.item<double>(), 0);
  });
}

TEST(ThreadGroup, GathersInRankOrderAndBroadcastsFromTheRoot) {
  play_all(4, [](World& world) {
    const auto all = world.control->all_gather(at::scalar_tensor(world.rank, at::kLong));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(all[i].item<int>(), i);
    auto value = at::scalar_tensor(world.rank, at::kLong);
    world.control->broadcast(value, 2);
    EXPECT_EQ(value.item<int>(), 2);
  });
}

TEST(ThreadGroup, SurvivesManyRounds) {
  play_all(4, [](World& world) {
    auto value = at::scalar_tensor(0, at::kLong);
    for (int round = 0; round < 500; ++round) {
      value += 1;
      world.control->broadcast(value, round % 4);
      world.control->barrier();
    }
    EXPECT_EQ(value.item<int>(), 500);
  });
}

TEST(ThreadGroup, AMemberThatThrowsLeavesNobodyWaiting) {
  const auto thrown = play(make_thread_worlds(3), [](World& world) {
    if (world.rank == 1) throw std::runtime_error("out of luck");
    world.control->barrier();
  });
  EXPECT_EQ(test::message_of(thrown[0]), "thread 1 of the group has ended");
  EXPECT_EQ(test::message_of(thrown[2]), "thread 1 of the group has ended");
}

TEST(ThreadGroup, AnAbortCarriesItsReason) {
  const auto thrown = play(make_thread_worlds(2), [](World& world) {
    if (world.rank == 1) return world.control->abort("replica 1: out of luck");
    world.control->barrier();
  });
  EXPECT_EQ(test::message_of(thrown[0]), "replica 1: out of luck");
}

TEST(ThreadGroup, NobodyWaitsForLongerThanTheTimeout) {
  const auto groups = make_thread_groups(2, std::chrono::milliseconds(20));
  EXPECT_THROW(groups[0]->barrier(), Error);
  EXPECT_THROW(groups[1]->barrier(), Error);
}

TEST(Text, TravelsWhateverItsLength) {
  play_all(3, [](World& world) {
    const std::string mine(static_cast<std::size_t>(world.rank) * 5, 'x');
    const std::vector<std::string> all{"", "xxxxx", "xxxxxxxxxx"};
    EXPECT_EQ(gather_text(*world.control, mine), all);
    EXPECT_EQ(broadcast_text(*world.control, "from " + mine, 2), "from xxxxxxxxxx");
  });
}

TEST(Tensors, OfManyTypesTravelInOneBroadcast) {
  play_all(2, [](World& world) {
    const auto flag = at::full({3}, world.rank, at::kByte);
    const auto count = at::scalar_tensor(world.rank + 7, at::kLong);
    const auto values = at::full({2, 2}, world.rank + 0.5, at::kDouble).t();
    broadcast_tensors(*world.control, {flag, count, values}, 0);
    EXPECT_EQ(flag.sum().item<int>(), 0);
    EXPECT_EQ(count.item<int>(), 7);
    EXPECT_TRUE(at::equal(values, at::full({2, 2}, 0.5, at::kDouble)));
  });
}

TEST(Agreement, NamesTheRanksThatDiffer) {
  const auto thrown = play(make_thread_worlds(3), [](World& world) {
    agree(world, "the recipe", "same");
    agree(world, "the data", world.rank == 1 ? "b" : "a");
  });
  EXPECT_EQ(test::message_of(thrown[0]),
            "the ranks do not agree on the data: rank 0, 2 has 'a'; rank 1 has 'b'; start every "
            "rank with the same files and options");
}

}  // namespace
}  // namespace ddptrain
