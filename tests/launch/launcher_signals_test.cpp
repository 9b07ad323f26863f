// Real forks: what signals to the launcher do.
#include "launch/launch.h"
#include "launch/signals.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using namespace test;

// Ranks that leave in order when asked to.
RankMain orderly(const std::function<void(const Topology&)>& ready) {
  return [ready](const Topology& t) {
    const Signals signals;
    ready(t);
    while (signals.stop_requested().signal == 0) nap(0.01);
    nap(0.1);
    return 128 + signals.stop_requested().signal;
  };
}

TEST_F(Launch, ForwardsTheFirstRequestToStop) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    start(2, orderly([&](const Topology& t) { mark("rank" + std::to_string(t.rank)); }));
    ASSERT_TRUE(wait_for([&] { return marked("rank0") && marked("rank1"); }));
    ::kill(launcher_, signal);
    EXPECT_EQ(wait(), 128 + signal) << stderr_text();
    EXPECT_TRUE(nothing_left());
    EXPECT_EQ(stderr_text().find("error"), std::string::npos) << stderr_text();
    fs::remove(folder_ + "/rank0");
    fs::remove(folder_ + "/rank1");
  }
}

TEST_F(Launch, GoesOnUnderNohup) {
  ::signal(SIGHUP, SIG_IGN);
  start(1, orderly([&](const Topology&) { mark("rank0"); }));
  ::signal(SIGHUP, SIG_DFL);
  ASSERT_TRUE(wait_for([&] { return marked("rank0"); }));
  ::kill(launcher_, SIGHUP);
  nap(0.3);
  EXPECT_TRUE(alive(pid_of("rank0")));
  ::kill(launcher_, SIGTERM);
  EXPECT_EQ(wait(), 143);
}

TEST_F(Launch, LeavesNowAtTheSecondCtrlC) {
  start(2, [&](const Topology& t) {
    const Signals signals;
    mark("rank" + std::to_string(t.rank));
    while (signals.stop_requested().signal == 0) nap(0.01);
    mark("asked" + std::to_string(t.rank));
    nap(60);
    return 0;
  });
  ASSERT_TRUE(wait_for([&] { return marked("rank0") && marked("rank1"); }));
  const auto rank = pid_of("rank1");
  ::kill(launcher_, SIGINT);
  ASSERT_TRUE(wait_for([&] { return marked("asked0") && marked("asked1"); }));
  const Stopwatch watch;
  ::kill(launcher_, SIGINT);
  EXPECT_EQ(wait(), 130);
  EXPECT_LT(watch.seconds(), 50);  // of the 60 that the others nap
  EXPECT_FALSE(alive(rank));
  EXPECT_TRUE(nothing_left());
}

TEST_F(Launch, ForwardsTheRequestToSave) {
  start(2, [&](const Topology& t) {
    Signals signals;
    mark("rank" + std::to_string(t.rank));
    while (!signals.save_requested()) nap(0.01);
    return signals.save_requested() ? 70 : 0;
  });
  ASSERT_TRUE(wait_for([&] { return marked("rank0") && marked("rank1"); }));
  ::kill(launcher_, SIGUSR1);
  EXPECT_EQ(wait(), 0) << stderr_text();
}

TEST_F(Launch, StopsItsRanksAtTheWarningBeforeATimeLimit) {
  LaunchOptions options;
  options.usr1 = Usr1::stops;
  start(
      2,
      [&](const Topology& t) {
        const Signals signals(Usr1::stops);
        mark("rank" + std::to_string(t.rank));
        while (signals.stop_requested().signal == 0) nap(0.01);
        return 128 + signals.stop_requested().signal;
      },
      options);
  ASSERT_TRUE(wait_for([&] { return marked("rank0") && marked("rank1"); }));
  ::kill(launcher_, SIGUSR1);
  EXPECT_EQ(wait(), 128 + SIGUSR1) << stderr_text();
  EXPECT_EQ(stderr_text().find("error"), std::string::npos) << stderr_text();
}

TEST_F(Launch, SuspendsAndResumesItsRanks) {
  start(1, orderly([&](const Topology&) { mark("rank0"); }));
  ASSERT_TRUE(wait_for([&] { return marked("rank0"); }));
  const auto state = [&] {
    const auto stat = read_text("/proc/" + std::to_string(pid_of("rank0")) + "/stat");
    return stat[stat.rfind(')') + 2];
  };
  ::kill(launcher_, SIGTSTP);
  EXPECT_TRUE(wait_for([&] { return state() == 'T'; }));
  ::kill(launcher_, SIGCONT);
  EXPECT_TRUE(wait_for([&] { return state() != 'T'; }));
  ::kill(launcher_, SIGTERM);
  EXPECT_EQ(wait(), 143);
}

TEST_F(Launch, TakesItsRanksAlongWhenItIsKilled) {
  start(3, [&](const Topology& t) {
    mark("rank" + std::to_string(t.rank));
    nap(60);
    return 0;
  });
  ASSERT_TRUE(wait_for([&] { return marked("rank0") && marked("rank1") && marked("rank2"); }));
  ::kill(launcher_, SIGKILL);
  EXPECT_EQ(wait(), 128 + SIGKILL);
  for (const auto* name : {"rank0", "rank1", "rank2"})
    EXPECT_TRUE(wait_for([&] { return !alive(pid_of(name)); }, 2)) << name;
}

}  // namespace
}  // namespace ddptrain
