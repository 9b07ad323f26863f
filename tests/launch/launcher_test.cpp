// Real forks: who fails, is killed, hangs or is interrupted, and what is left behind.
#include "launch/launcher.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files/files.h"
#include "launch/failure.h"
#include "launch/signals.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Main = std::function<int(const Topology&)>;

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

bool wait_for(const std::function<bool()>& condition, double seconds = 600) {
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    if (condition()) return true;
    nap(0.01);
  }
  return condition();
}

class Launch : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "launch-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directories(folder_ + "/tmp");
  }
  void TearDown() override {
    if (launcher_ > 0) ::kill(launcher_, SIGKILL), ::waitpid(launcher_, nullptr, 0);
    fs::remove_all(folder_);
  }

  // The launcher in a process of its own, as the program would be.
  void start(int ranks, const Main& main, LaunchOptions options = {}) {
    launcher_ = ::fork();
    if (launcher_ > 0) return;
    ::setenv("TMPDIR", (folder_ + "/tmp").c_str(), 1);
    ::dup2(::open((folder_ + "/err").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600), STDERR_FILENO);
    ::_exit(launch(ranks, main, options));
  }

  // Exit code of the launcher, 128 + n when it was killed.
  int wait() {
    int status = 0;
    ::waitpid(launcher_, &status, 0);
    launcher_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  int run(int ranks, const Main& main, const LaunchOptions& options = {}) {
    start(ranks, main, options);
    return wait();
  }

  void mark(const std::string& name) const {
    std::ofstream(folder_ + "/." + name) << ::getpid() << "\n";
    fs::rename(folder_ + "/." + name, folder_ + "/" + name);
  }
  bool marked(const std::string& name) const { return fs::exists(folder_ + "/" + name); }
  pid_t pid_of(const std::string& name) const { return std::stoi(read_text(folder_ + "/" + name)); }
  std::string said() const { return read_text(folder_ + "/err"); }
  bool nothing_left() const { return fs::is_empty(folder_ + "/tmp"); }
  static bool alive(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    return static_cast<bool>(std::getline(stat, text)) && text.find(") Z") == std::string::npos;
  }

  std::string folder_;
  pid_t launcher_ = 0;
};

TEST_F(Launch, GivesEveryRankItsPlace) {
  const int code = run(3, [&](const Topology& t) {
    const bool good = t.world == 3 && t.local_world == 3 && t.local_rank == t.rank &&
                      fs::is_directory(t.store) && t.address.empty() && ::getpgrp() == ::getpid();
    mark("rank" + std::to_string(t.rank));
    return good ? 0 : 70;
  });
  EXPECT_EQ(code, 0) << said();
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

TEST_F(Launch, EndsAllWithTheFirstFailuresMessageAndCode) {
  const Stopwatch watch;
  const int code = run(3, [](const Topology& t) -> int {
    if (t.rank == 1) throw Error(Exit::data, "cannot read 'x.png'");
    if (t.rank == 2) {
      nap(0.2);
      throw PeerError("connection closed by peer");
    }
    nap(60);
    return 0;
  });
  EXPECT_EQ(code, 3);
  EXPECT_LT(watch.seconds(), 50);  // of the 60 that the others nap
  EXPECT_THAT(said(), HasSubstr("error: rank 1: cannot read 'x.png'"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(Launch, BlamesTheCauseWhenAPeerFallsBeforeIt) {
  const int code = run(2, [](const Topology& t) -> int {
    if (t.rank == 0) throw PeerError("connection closed by peer");
    nap(0.3);
    throw std::bad_alloc();
  });
  EXPECT_EQ(code, 7) << said();
  EXPECT_THAT(said(), HasSubstr("error: rank 1: out of memory"));
  EXPECT_THAT(said(), HasSubstr("as a consequence, rank 0: connection closed by peer"));
}

// What a rank destroys after a failure closes its connections and may take long.
TEST_F(Launch, FindsTheCauseOnRecordBeforeItsRankHasEnded) {
  struct Slow {
    std::function<void()> close;
    ~Slow() { close(); }
  };
  const int code = run(2, [&](const Topology& t) -> int {
    if (t.rank == 0) {
      wait_for([&] { return marked("closed"); });
      throw PeerError("connection closed by peer");
    }
    const Slow connections{[&] {
      mark("closed");
      nap(60);
    }};
    return recorded(t, []() -> int { throw Error(Exit::data, "cannot read 'x.png'"); });
  });
  EXPECT_EQ(code, 3) << said();
  EXPECT_THAT(said(), HasSubstr("error: rank 1: cannot read 'x.png'"));
}

TEST_F(Launch, CallsAnUnknownExceptionABug) {
  EXPECT_EQ(run(2,
                [](const Topology& t) -> int {
                  if (t.rank == 0) throw std::logic_error("index out of range");
                  nap(60);
                  return 0;
                }),
            70);
}

// NCCL's watchdog throws in a thread of its own, where nobody catches.
TEST_F(Launch, ReportsADeviceErrorOfAThreadThatNobodyCatches) {
  const int code = run(2, [](const Topology& t) -> int {
    if (t.rank == 1)
      std::thread([] {
        throw std::runtime_error("NCCL error in: ProcessGroupNCCL.cpp, unhandled system error");
      }).join();
    nap(60);
    return 0;
  });
  EXPECT_EQ(code, 4);
  EXPECT_THAT(said(), HasSubstr("rank 1: NCCL error in: ProcessGroupNCCL.cpp"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(Launch, NamesTheRankThatWasKilledAndTheSignal) {
  const Stopwatch watch;
  const int code = run(4, [](const Topology& t) {
    if (t.rank == 2) ::raise(SIGKILL);
    nap(60);
    return 0;
  });
  EXPECT_EQ(code, 128 + SIGKILL);
  EXPECT_LT(watch.seconds(), 50);  // of the 60 that the others nap
  EXPECT_THAT(said(), HasSubstr("rank 2 was killed by signal 9 (SIGKILL)"));
}

TEST_F(Launch, KillsRanksThatIgnoreSigterm) {
  LaunchOptions options;
  options.grace_seconds = 0.5;
  const Stopwatch watch;
  const int code = run(
      2,
      [](const Topology& t) {
        ::signal(SIGSEGV, SIG_DFL);  // AddressSanitizer has a handler of its own
        if (t.rank == 0) ::raise(SIGSEGV);
        ::signal(SIGTERM, SIG_IGN);
        nap(60);
        return 0;
      },
      options);
  EXPECT_EQ(code, 128 + SIGSEGV);
  EXPECT_LT(watch.seconds(), 50);  // of the 60 that the others nap
}

TEST_F(Launch, NamesTheRankThatHangsAndItsPhase) {
  Heartbeats heartbeats(3);
  LaunchOptions options;
  options.heartbeats = &heartbeats;
  options.step_seconds = 1;
  options.grace_seconds = 0.5;
  const Stopwatch watch;
  const int code = run(
      3,
      [&](const Topology& t) {
        for (int step = 0; t.rank != 1 || step < 5; ++step) {
          heartbeats.beat(t.rank, step, "step");
          nap(0.05);
        }
        heartbeats.beat(t.rank, 5, "evaluation");
        nap(60);
        return 0;
      },
      options);
  EXPECT_EQ(code, 124) << said();
  EXPECT_LT(watch.seconds(), 50);  // of the 60 that the others nap
  EXPECT_THAT(said(), HasSubstr("rank 1: no sign of life"));
  EXPECT_THAT(said(), HasSubstr("'evaluation' after step 5"));
}

TEST_F(Launch, NamesTheSuspendedRankAmongThoseThatWaitForIt) {
  Heartbeats heartbeats(3);
  LaunchOptions options;
  options.heartbeats = &heartbeats;
  options.start_seconds = 0.5;
  const int code = run(
      3,
      [&](const Topology& t) {
        heartbeats.beat(t.rank, -1, "build");
        if (t.rank == 2) ::raise(SIGSTOP);
        nap(60);
        return 0;
      },
      options);
  EXPECT_EQ(code, 124);
  EXPECT_THAT(said(), HasSubstr("rank 2: no sign of life"));
  EXPECT_THAT(said(), HasSubstr("suspended"));
}

TEST_F(Launch, ReturnsExpectOfRanksThatEndedInOrder) {
  EXPECT_EQ(run(2, [](const Topology& t) { return t.rank == 0 ? 6 : 0; }), 6);
}

// Ranks that leave in order when asked to.
Main orderly(const std::function<void(const Topology&)>& ready) {
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
    EXPECT_EQ(wait(), 128 + signal) << said();
    EXPECT_TRUE(nothing_left());
    EXPECT_EQ(said().find("error"), std::string::npos) << said();
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
  EXPECT_EQ(wait(), 0) << said();
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

TEST_F(Launch, SendsWhatOtherRanksPrintToTheirLogsAndShowsItsEndWhenOneFalls) {
  LaunchOptions options;
  options.log_file = [&](int rank) { return folder_ + "/log.rank" + std::to_string(rank); };
  const int code = run(
      2,
      [](const Topology& t) {
        if (t.rank == 1) {
          std::fputs("corrupted size vs. prev_size\n", stderr);
          std::abort();
        }
        nap(60);
        return 0;
      },
      options);
  EXPECT_EQ(code, 128 + SIGABRT);
  EXPECT_THAT(read_text(folder_ + "/log.rank1"), HasSubstr("corrupted size"));
  EXPECT_THAT(said(), HasSubstr("  corrupted size vs. prev_size"));
}

TEST_F(Launch, WritesTorchrunsErrorFile) {
  const auto file = folder_ + "/error.json";
  ::setenv("TORCHELASTIC_ERROR_FILE", file.c_str(), 1);
  run(1, [](const Topology&) -> int { throw Error(Exit::data, "no space left"); });
  ::unsetenv("TORCHELASTIC_ERROR_FILE");
  EXPECT_THAT(read_text(file), HasSubstr("ddptrain: no space left"));
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
