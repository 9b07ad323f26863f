// Requests of several ranks, with ranks as threads.
#include "train/requests.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "support/ranks.h"

namespace ddptrain {
namespace {

std::vector<Requests> agreed(const std::vector<Requests>& asked) {
  std::vector<Requests> found(asked.size());
  test::play_all(static_cast<int>(asked.size()), [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank);
    found[rank] = agree(*world.control, asked[rank]);
  });
  return found;
}

TEST(Requests, OfOneRankAreEverybodys) {
  Requests save, evaluate, time_up;
  save.save = evaluate.evaluate = time_up.time_up = true;
  for (const auto& all : agreed({save, evaluate, time_up})) {
    EXPECT_EQ(all.stop.signal, 0);
    EXPECT_TRUE(all.save && all.evaluate && all.time_up);
    EXPECT_FALSE(all.data_lost);
  }
}

// 2 and 15 together must not become 8.
TEST(Requests, OfSeveralSignalsTheFirstOneCounts) {
  Requests interrupt, terminate;
  interrupt.stop = {SIGINT, 1000.5};
  terminate.stop = {SIGTERM, 1000.25};
  for (const auto& all : agreed({{}, interrupt, terminate})) EXPECT_EQ(all.stop.signal, SIGTERM);
  for (const auto& all : agreed({terminate, {}, interrupt})) EXPECT_EQ(all.stop.signal, SIGTERM);
}

TEST(Requests, OfARankAloneAreItsOwn) {
  Requests mine;
  mine.stop = {SIGHUP, 5};
  EXPECT_EQ(agreed({mine})[0].stop.signal, SIGHUP);
}

// Asked before its fourth round, a rank stops all before their fifth.
TEST(StopVote, EndsInTheSameRoundOnAllRanks) {
  std::vector<int> rounds(3, 0);
  test::play_all(3, [&](World& world) {
    StopVote vote(*world.control);
    auto& done = rounds[static_cast<std::size_t>(world.rank)];
    while (!vote.next(world.rank == 1 && done >= 3)) ++done;
  });
  EXPECT_EQ(rounds, (std::vector<int>{4, 4, 4}));
}

TEST(StopVote, OfOneRankNeedsNoRound) {
  test::play_all(1, [&](World& world) {
    StopVote vote(*world.control);
    EXPECT_FALSE(vote.next(false));
    EXPECT_TRUE(vote.next(true));
  });
}

}  // namespace
}  // namespace ddptrain
