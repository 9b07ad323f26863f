#include "base/blocked_signals.h"

#include <gtest/gtest.h>

#include <thread>

namespace ddptrain {
namespace {

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(BlockedSignals, HoldForThreadsThatAreStartedMeanwhile) {
  bool term = false, bus = true;
  std::thread thread;
  {
    const BlockedSignals blocked;
    EXPECT_TRUE(is_blocked(SIGTERM));
    thread = std::thread([&] {
      term = is_blocked(SIGTERM);
      bus = is_blocked(SIGBUS);
    });
  }
  EXPECT_FALSE(is_blocked(SIGTERM));
  thread.join();
  EXPECT_TRUE(term);
  EXPECT_FALSE(bus);
}

}  // namespace
}  // namespace ddptrain
