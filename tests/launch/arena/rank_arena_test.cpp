// Members as threads, and as processes that are killed.
#include "launch/arena/rank_arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstring>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "launch/child_process.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;
using Met = ArenaSeat::Met;

std::vector<int> all_of(const RankArena& arena) {
  std::vector<int> ranks;
  for (int rank = 0; rank < arena.ranks(); ++rank) ranks.push_back(rank);
  return ranks;
}

void play_seats(int ranks, const std::function<void(ArenaSeat&)>& play) {
  const auto arena = std::make_shared<RankArena>(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      ArenaSeat seat(arena, 0, all_of(*arena), rank);
      play(seat);
    });
  for (auto& thread : threads) thread.join();
}

std::span<std::byte> bytes_of(int& number) { return std::as_writable_bytes(std::span(&number, 1)); }

/// What a member writes in a round.
int number_of(int member, std::uint64_t round) { return 1000 * member + static_cast<int>(round); }

// Having met, each is one round ahead before it reads: blocks of three rounds are in use.
TEST(ArenaSeat, ReadsWhatAllWroteInTheSameRound) {
  for (const int ranks : {1, 2, 3, 5})
    play_seats(ranks, [](ArenaSeat& seat) {
      const auto write_next = [&] {
        const int own = number_of(seat.member(), seat.round() + 1);
        std::memcpy(seat.block(seat.member(), seat.round() + 1), &own, sizeof own);
        seat.arrive();
      };
      write_next();
      for (std::uint64_t round = 1; round <= 300; ++round) {
        ASSERT_EQ(seat.meet(10min), Met::all);
        write_next();
        for (int member = 0; member < seat.size(); ++member) {
          int read = 0;
          std::memcpy(&read, seat.block(member, round), sizeof read);
          ASSERT_EQ(read, number_of(member, round));
        }
      }
    });
}

TEST(ArenaSeat, PassesLettersInOrder) {
  play_seats(3, [](ArenaSeat& seat) {
    if (seat.member() == 1) return;
    for (int i = 0; i < 200; ++i) {
      int letter = i;
      if (seat.member() == 0)
        ASSERT_EQ(seat.send(2, bytes_of(letter), 10min), Met::all);
      else
        ASSERT_EQ(seat.receive(0, bytes_of(letter), 10min), Met::all);
      ASSERT_EQ(letter, i);
    }
  });
}

TEST(ArenaSeat, NamesWhoHasNotArrivedInTime) {
  const auto arena = std::make_shared<RankArena>(3);
  ArenaSeat first(arena, 0, all_of(*arena), 0), second(arena, 0, all_of(*arena), 1);
  first.arrive();
  EXPECT_EQ(first.meet(30ms), Met::timed_out);
  EXPECT_EQ(first.missing(), (std::vector<int>{1, 2}));
  second.arrive();
  EXPECT_EQ(first.missing(), std::vector<int>{2});
}

TEST(ArenaSeat, LosesAMemberThatLeftBeforeItArrived) {
  const auto arena = std::make_shared<RankArena>(2);
  ArenaSeat first(arena, 0, all_of(*arena), 0);
  {
    ArenaSeat second(arena, 0, all_of(*arena), 1);
    first.arrive();
    second.arrive();
  }
  EXPECT_EQ(first.meet(10min), Met::all);
  first.arrive();
  EXPECT_EQ(first.meet(10min), Met::lost_member);
  int letter = 0;
  EXPECT_EQ(first.receive(1, bytes_of(letter), 10min), Met::lost_member);
}

TEST(ArenaSeat, GroupsOfDifferentRanksAndPurposesAreApart) {
  const auto arena = std::make_shared<RankArena>(4);
  const std::vector<int> even{0, 2}, odd{1, 3};
  ArenaSeat zero(arena, 1, even, 0), two(arena, 1, even, 1), one(arena, 1, odd, 0);
  ArenaSeat other(arena, 2, even, 0);
  one.arrive();
  other.arrive();
  zero.arrive();
  EXPECT_EQ(zero.meet(30ms), Met::timed_out);
  two.arrive();
  EXPECT_EQ(zero.meet(10min), Met::all);
  EXPECT_EQ(one.meet(30ms), Met::timed_out);
  EXPECT_EQ(other.meet(30ms), Met::timed_out);
}

/// A rank in a process of its own.
std::unique_ptr<ChildProcess> forked(RankArena& arena, int rank, std::function<int()> work) {
  sigset_t none;
  ::sigemptyset(&none);
  auto process =
      std::make_unique<ChildProcess>(ForkedWork{"a rank", Tie::own_group, none, std::move(work)});
  arena.set_process(rank, process->pid());
  return process;
}

// Nothing has collected the process yet: the others notice first.
TEST(ArenaSeat, LosesAMemberWhoseProcessIsKilled) {
  for (const bool arrives : {false, true}) {
    const auto arena = std::make_shared<RankArena>(3);
    const auto killed = forked(*arena, 1, [&] {
      ArenaSeat seat(arena, 0, all_of(*arena), 1);
      if (arrives) seat.arrive();
      return ::raise(SIGKILL);
    });
    ArenaSeat seat(arena, 0, all_of(*arena), 0);
    seat.arrive();
    EXPECT_EQ(seat.meet(10min), Met::lost_member);
  }
}

TEST(ArenaSeat, WaitsForAMemberThatIsSuspended) {
  const auto arena = std::make_shared<RankArena>(2);
  const auto other = forked(*arena, 1, [&] {
    ArenaSeat seat(arena, 0, all_of(*arena), 1);
    ::raise(SIGSTOP);
    seat.arrive();
    return 0;
  });
  while (!other->is_stopped()) std::this_thread::sleep_for(1ms);
  ArenaSeat seat(arena, 0, all_of(*arena), 0);
  seat.arrive();
  EXPECT_EQ(seat.meet(100ms), Met::timed_out);
  other->send(SIGCONT);
  EXPECT_EQ(seat.meet(10min), Met::all);
}

TEST(RankArena, IsAnErrorWhereTheSystemHasNoSuchMemory) {
  try {
    const RankArena arena(1 << 29);
    FAIL() << "the address space is smaller";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no shared memory for what ranks exchange");
    EXPECT_EQ(error.code(), Exit::memory);
  }
}

TEST(RankArena, IsNullWithAWarningThen) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(make_rank_arena(1 << 29), nullptr);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("no shared memory for what ranks exchange: they use the loopback "
                                 "network (Gloo), more slowly"));
}

}  // namespace
}  // namespace ddptrain
