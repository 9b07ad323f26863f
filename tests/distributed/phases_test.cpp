// Where time goes: to the innermost phase, and to the outer one of evaluation and saving.
#include "distributed/phases.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace ddptrain {
namespace {

double time_now = 0;  // of the tests' clock

double of(PhaseClock& clock, Phase phase) {
  return clock.seconds()[static_cast<std::size_t>(phase)];
}

TEST(PhaseClock, CountsAnInnerPhaseForItself) {
  PhaseClock clock([] { return time_now; });
  {
    const PhaseScope outer(Phase::forward);
    time_now += 1;
    {
      const PhaseScope inner(Phase::communication);
      time_now += 4;
    }
    time_now += 16;
  }
  time_now += 64;
  EXPECT_EQ(of(clock, Phase::forward), 17);
  EXPECT_EQ(of(clock, Phase::communication), 4);
  EXPECT_EQ(clock.seconds()[kPhases], 64);
}

TEST(PhaseClock, CountsAllOfAnEvaluationForTheEvaluation) {
  PhaseClock clock([] { return time_now; });
  {
    const PhaseScope outer(Phase::evaluation);
    const PhaseScope inner(Phase::loader);
    const PhaseScope innermost(Phase::saving);
    time_now += 8;
  }
  EXPECT_EQ(of(clock, Phase::evaluation), 8);
  const auto all = clock.seconds();
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0), 8);
}

TEST(PhaseClock, CountsWhatAnotherThreadDoesForTheOneThatWaits) {
  PhaseClock clock([] { return time_now; });
  auto* watchers = BorrowedWatchers::of_this_thread();
  std::thread([&] {
    { const PhaseScope unseen(Phase::forward); }
    const BorrowedWatchers lent(watchers);
    const PhaseScope phase(Phase::backward);
    time_now += 2;
  }).join();
  EXPECT_EQ(of(clock, Phase::forward), 0);
  EXPECT_EQ(of(clock, Phase::backward), 2);
}

TEST(PhaseClock, SeesNothingOnceItIsGone) {
  { const PhaseClock clock; }
  EXPECT_EQ(BorrowedWatchers::of_this_thread(), nullptr);
}

}  // namespace
}  // namespace ddptrain
