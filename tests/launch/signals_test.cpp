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

TEST(HeldSignals, KeepSigusr1ForWhatItAsks) {
  for (const auto usr1 : {Usr1::saves, Usr1::stops}) {
    const HeldSignals held;
    ::raise(SIGUSR1);
    Signals signals(usr1);
    EXPECT_EQ(signals.save_requested(), usr1 == Usr1::saves);
    EXPECT_EQ(signals.stop_requested().signal, usr1 == Usr1::stops ? SIGUSR1 : 0);
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
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGPIPE}) {
    EXPECT_TRUE(is_blocked(signal));
    EXPECT_EQ(::sigismember(&passed, signal), 0);
  }
}

}  // namespace
}  // namespace ddptrain
