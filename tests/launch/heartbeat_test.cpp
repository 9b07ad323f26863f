#include "launch/heartbeat.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ddptrain {
namespace {

TEST(Heartbeats, StartBeforeTheFirstStep) {
  const Heartbeats heartbeats(2);
  EXPECT_EQ(heartbeats.last(1).step, -1);
  EXPECT_EQ(heartbeats.last(1).phase, "start");
}

TEST(Heartbeats, AreSeenAcrossAFork) {
  Heartbeats heartbeats(2);
  const auto before = heartbeats.last(1);
  const pid_t child = ::fork();
  if (child == 0) {
    heartbeats.beat(1, 7, "evaluation");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(heartbeats.last(1).step, 7);
  EXPECT_EQ(heartbeats.last(1).phase, "evaluation");
  EXPECT_GE(heartbeats.last(1).seconds, before.seconds);
  EXPECT_EQ(heartbeats.last(0).step, -1);
}

TEST(Heartbeats, KeepTheFirst32BytesOfAPhase) {
  Heartbeats heartbeats(1);
  heartbeats.beat(0, 0, std::string(100, 'x'));
  EXPECT_EQ(heartbeats.last(0).phase, std::string(32, 'x'));
}

}  // namespace
}  // namespace ddptrain
