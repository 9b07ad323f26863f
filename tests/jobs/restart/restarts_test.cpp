#include "jobs/restart/restarts.h"

#include <gtest/gtest.h>

#include <csignal>

namespace ddptrain {
namespace {

using Answer = Restarts::Answer;

constexpr int kKilled = 128 + SIGKILL;
constexpr int kDevice = static_cast<int>(Exit::device);

TEST(Restarts, AreForProcessesThatDiedOrHungWherePeersWereLost) {
  for (const int code : {kKilled, 128 + SIGSEGV, static_cast<int>(Exit::hang), kDevice})
    EXPECT_EQ(Restarts(1, {}, false).after(code, "step-5"), Answer::again) << code;
}

TEST(Restarts, AreNotForWhatWouldComeAgain) {
  for (const auto code : {Exit::done, Exit::recipe, Exit::data, Exit::non_finite, Exit::expect,
                          Exit::memory, Exit::bug})
    EXPECT_EQ(Restarts(1, {}, false).after(static_cast<int>(code), "step-5"), Answer::no);
}

TEST(Restarts, AreNotForARunThatWasAskedToStop) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1})
    EXPECT_EQ(Restarts(1, {}, false).after(128 + signal, "step-5"), Answer::no) << signal;
}

TEST(Restarts, AreCounted) {
  Restarts restarts(2, {}, false);
  EXPECT_EQ(restarts.after(kKilled, "step-5"), Answer::again);
  EXPECT_EQ(restarts.in_words(), "restart 1 of 2");
  EXPECT_EQ(restarts.after(kKilled, "step-9"), Answer::again);
  EXPECT_EQ(restarts.in_words(), "restart 2 of 2");
  EXPECT_EQ(restarts.after(kKilled, "step-12"), Answer::used_up);
}

TEST(Restarts, WithoutALimitGoOnWhileCheckpointsAreMade) {
  Restarts restarts({}, "step-0", false);
  for (int step = 1; step < 100; ++step)
    EXPECT_EQ(restarts.after(kKilled, "step-" + std::to_string(step)), Answer::again);
  EXPECT_EQ(restarts.in_words(), "restart 99");
}

TEST(Restarts, EndWhereTwoStartsInARowSaveNothing) {
  Restarts restarts({}, "step-5", false);
  EXPECT_EQ(restarts.after(kKilled, "step-5"), Answer::again);
  EXPECT_EQ(restarts.after(kKilled, "step-5"), Answer::stuck);
  Restarts others({}, {}, false);
  EXPECT_EQ(others.after(kKilled, {}), Answer::again);
  EXPECT_EQ(others.after(kKilled, "step-5"), Answer::again);
  EXPECT_EQ(others.after(kKilled, "step-5"), Answer::again);
  EXPECT_EQ(others.after(kKilled, "step-5"), Answer::stuck);
}

// A device that is not there is not there at the next start either; a peer's death on another node
// may look the same here.
TEST(Restarts, ThatSavedNothingAreRepeatedWhereAProcessMayHaveDied) {
  EXPECT_EQ(Restarts({}, "step-5", false).after(kDevice, "step-5"), Answer::stuck);
  EXPECT_EQ(Restarts({}, "step-5", true).after(kDevice, "step-5"), Answer::again);
}

TEST(Restarts, AreAsManyAsTheRecipeSays) {
  Recipe recipe;
  EXPECT_EQ(most_restarts(recipe), 0);
  recipe.parallel.restarts = 3;
  EXPECT_EQ(most_restarts(recipe), 3);
  recipe.policy.on_rank_failure = OnRankFailure::restart;
  EXPECT_EQ(most_restarts(recipe), 3);
  recipe.parallel.restarts = 0;
  EXPECT_EQ(most_restarts(recipe), std::nullopt);
}

}  // namespace
}  // namespace ddptrain
