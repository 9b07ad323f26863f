#include "distributed/control/versions.h"

#include <gtest/gtest.h>

#include "distributed/control/rank_list.h"
#include "support/ranks.h"

namespace ddptrain {
namespace {

TEST(RankList, ShowsThreeAndMoreThatFollowEachOtherAsARange) {
  EXPECT_EQ(rank_list({}), "");
  EXPECT_EQ(rank_list({7}), "7");
  EXPECT_EQ(rank_list({0, 2}), "0, 2");
  EXPECT_EQ(rank_list({2, 3}), "2, 3");
  EXPECT_EQ(rank_list({0, 1, 2, 3, 9, 11, 12, 13}), "0-3, 9, 11-13");
  EXPECT_EQ(rank_list({0, 2, 4, 6}, 2), "0, 2, ...");
}

TEST(AllEqual, HoldsOnEveryNumberOfRanks) {
  for (const int size : {1, 2, 3, 5, 8, 13, 64})
    test::play_all(size, [](World& world) { EXPECT_TRUE(all_equal(*world.control, "same")); });
}

TEST(AllEqual, IsFalseOnAllWhereOneDiffers) {
  constexpr int size = 11;
  for (int odd = 0; odd < size; ++odd)
    test::play_all(size, [&](World& world) {
      EXPECT_FALSE(all_equal(*world.control, world.rank == odd ? "other" : "same"));
    });
}

TEST(Versions, AreInTheOrderOfTheirLowestRanks) {
  test::play_all(6, [](World& world) {
    const auto found = versions_of(*world.control, world.rank % 3 == 1 ? "b" : "a");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].text, "a");
    EXPECT_EQ(found[0].ranks, (std::vector<int>{0, 2, 3, 5}));
    EXPECT_EQ(found[1].text, "b");
    EXPECT_EQ(found[1].ranks, (std::vector<int>{1, 4}));
  });
}

/// Counts what a member sends and receives by itself.
class CountingGroup final : public Group {
 public:
  explicit CountingGroup(Group& group) : group_(group) {}
  int sent = 0, received = 0;

  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override {
    return group_.all_gather(tensor);
  }
  void all_reduce(at::Tensor& tensor) override { group_.all_reduce(tensor); }
  std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) override {
    return group_.all_reduce_async(tensor);
  }
  void broadcast(at::Tensor& tensor, int root) override { group_.broadcast(tensor, root); }
  std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) override {
    return group_.all_gather_async(flat, cuts);
  }
  std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                          at::Tensor& parts) override {
    return group_.exchange_async(flat, cuts, parts);
  }
  void send(const at::Tensor& tensor, int to) override {
    ++sent;
    group_.send(tensor, to);
  }
  void receive(at::Tensor& tensor, int from) override {
    ++received;
    group_.receive(tensor, from);
  }
  void barrier() override { group_.barrier(); }
  void abort(const std::string& reason) override { group_.abort(reason); }

 private:
  Group& group_;
};

TEST(AllEqual, SendsOneMessageAndReceivesAtMostTheLogarithm) {
  std::atomic<int> all = 0;
  test::play_all(256, [&](World& world) {
    CountingGroup group(*world.control);
    EXPECT_TRUE(all_equal(group, "same"));
    EXPECT_EQ(group.sent, world.rank == 0 ? 0 : 1);
    EXPECT_LE(group.received, 8);  // log2(256)
    all += group.sent;
  });
  EXPECT_EQ(all, 255);
}

}  // namespace
}  // namespace ddptrain
