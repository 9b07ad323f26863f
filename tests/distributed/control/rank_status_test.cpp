#include "distributed/control/rank_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using testing::HasSubstr;
using Statuses = std::vector<RankStatus>;

/// Four ranks that wait for each other.
Statuses waiting(std::int64_t count) {
  return Statuses(4, {count, 12, true, false, 30, "node1", "step"});
}

TEST(RankStatus, IsTheSameAfterItWasText) {
  const RankStatus status{7, -1, true, false, 1.5, "node1", "batch.micro"};
  const auto read = status_of(to_text(status));
  EXPECT_EQ(read.count, 7);
  EXPECT_EQ(read.step, -1);
  EXPECT_TRUE(read.waits);
  EXPECT_FALSE(read.lost_peer);
  EXPECT_EQ(read.silent, 1.5);
  EXPECT_EQ(read.host, "node1");
  EXPECT_EQ(read.phase, "batch.micro");
  EXPECT_EQ(status_of("no status").count, -1);
  EXPECT_EQ(status_of(to_text({1, 2, false, false, 0, "", "two words"})).phase, "two words");
}

TEST(MissingRank, IsTheOneThatSaysNothingAnyMore) {
  auto before = waiting(5), after = waiting(8);
  after[2].count = 5;
  const auto found = missing_rank(before, after);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(found->code, Exit::device);
  EXPECT_EQ(found->message,
            "no sign of life since it was in phase 'step' after step 12 on node1: it was killed or "
            "suspended, or its node is lost");
}

TEST(MissingRank, OfSeveralNamesAll) {
  auto before = waiting(5), after = waiting(8);
  after[1].count = after[2].count = after[3].count = 5;
  const auto found = missing_rank(before, after);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->message,
            "no sign of life since it was in phase 'step' after step 12 on node1, nor of ranks 2, "
            "3: it was killed or suspended, or its node is lost");
}

TEST(MissingRank, IsOneThatNeverSaidAnything) {
  auto before = waiting(5), after = waiting(8);
  before[3] = after[3] = {};
  const auto found = missing_rank(before, after);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 3);
  EXPECT_EQ(found->message,
            "no sign of life since it was before it joined the others: it was killed or suspended, "
            "or its node is lost");
}

// Ranks that lost a peer end, and say nothing any more either.
TEST(MissingRank, IsNotOneThatEndedForAnother) {
  auto before = waiting(5), after = waiting(8);
  for (const auto rank : {0u, 1u}) {
    after[rank].lost_peer = true;
    after[rank].count = 5;
  }
  EXPECT_FALSE(missing_rank(before, after));
  after[3].count = 5;
  EXPECT_EQ(missing_rank(before, after)->rank, 3);
}

TEST(MissingRank, IsTheOneForWhichTheOthersWait) {
  auto before = waiting(5), after = waiting(8);
  before[1].waits = after[1].waits = false;
  before[1].phase = after[1].phase = "evaluation";
  after[1].silent = 31;
  const auto found = missing_rank(before, after);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->code, Exit::hang);
  EXPECT_THAT(found->message, HasSubstr("in phase 'evaluation' after step 12"));
}

TEST(MissingRank, IsNotOneThatWorks) {
  auto before = waiting(5), after = waiting(8);
  before[1].waits = after[1].waits = false;
  after[1].step = 13;  // it came forward
  EXPECT_FALSE(missing_rank(before, after));
  after[1].step = 12;
  after[1].silent = 0.5;  // it began a moment ago
  EXPECT_FALSE(missing_rank(before, after));
}

TEST(LostServer, IsRankZeroWithItsLastPhase) {
  const auto failure = lost_server(waiting(3)[0], false);
  EXPECT_EQ(failure.rank, 0);
  EXPECT_THAT(failure.message, HasSubstr("in phase 'step' after step 12"));
}

}  // namespace
}  // namespace ddptrain
