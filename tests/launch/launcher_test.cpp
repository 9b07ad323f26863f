// Real forks: where ranks are, how they start and end in order.
#include <algorithm>
#include <cstdlib>

#include "launch/launch.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using namespace test;

TEST_F(Launch, GivesEveryRankItsPlace) {
  const int code = run(3, [&](const Topology& t) {
    const bool good = t.world == 3 && t.local_world == 3 && t.local_rank == t.rank &&
                      fs::is_directory(t.store) && t.address.empty() && ::getpgrp() == ::getpid();
    mark("rank" + std::to_string(t.rank));
    return good ? 0 : 70;
  });
  EXPECT_EQ(code, 0) << stderr_text();
  for (const auto* name : {"rank0", "rank1", "rank2"}) EXPECT_TRUE(marked(name));
  EXPECT_TRUE(nothing_left());
}

TEST_F(Launch, KeepsItsMeetingPlacePrivate) {
  EXPECT_EQ(run(2,
                [](const Topology& t) {
                  return fs::status(t.store).permissions() == fs::perms::owner_all ? 0 : 70;
                }),
            0);
}

TEST_F(Launch, ReturnsExpectOfRanksThatEndedInOrder) {
  EXPECT_EQ(run(2, [](const Topology& t) { return t.rank == 0 ? 6 : 0; }), 6);
}

TEST_F(Launch, CollectsItsRanksWhenItsParentIgnoresTheirEnd) {
  ::signal(SIGCHLD, SIG_IGN);
  start(2, [](const Topology&) { return 6; });
  ::signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(wait(), 6);
}

TEST_F(Launch, StartsManyTimesAtOnce) {
  std::vector<pid_t> launchers;
  for (int i = 0; i < 20; ++i) {
    start(3, [](const Topology& t) {
      std::ofstream(t.store + "/here." + std::to_string(t.rank)) << "";
      return wait_for([&] { return fs::exists(t.store + "/here." + std::to_string(2 - t.rank)); })
                 ? 0
                 : 70;
    });
    launchers.push_back(launcher_);
  }
  for (const auto pid : launchers) {
    launcher_ = pid;
    EXPECT_EQ(wait(), 0);
  }
  EXPECT_TRUE(nothing_left());
}

TEST(LaunchDeathTest, RefusesToForkOnceThereAreThreads) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        std::thread other([] { nap(5); });
        launch(1, [](const Topology&) { return 0; }, {});
      },
      "before any thread exists");
}

}  // namespace
}  // namespace ddptrain
