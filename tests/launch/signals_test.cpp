#include "launch/signals.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

bool is_blocked(int signal) {
  sigset_t now;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return ::sigismember(&now, signal) == 1;
}

TEST(HeldSignals, AreTakenByTheSignalsThatFollow) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const HeldSignals held;
    ::raise(signal);
    const Signals signals;
    EXPECT_EQ(signals.stop_requested().signal, signal);
    EXPECT_FALSE(is_blocked(signal));
  }
}

TEST(HeldSignals, ForgetASigpipeThatNobodyTook) {
  {
    const HeldSignals held;
    ::raise(SIGPIPE);
    EXPECT_TRUE(is_blocked(SIGPIPE));
  }
  EXPECT_FALSE(is_blocked(SIGPIPE));
}

TEST(HeldSignals, AreNotPassedOn) {
  const HeldSignals held;
  sigset_t now;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  const auto passed = without_held(now);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
    EXPECT_TRUE(is_blocked(signal));
    EXPECT_EQ(::sigismember(&passed, signal), 0);
  }
}

}  // namespace
}  // namespace ddptrain
