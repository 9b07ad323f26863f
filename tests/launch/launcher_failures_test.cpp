// Real forks: who failed, was killed or hangs, and what is reported.
#include <algorithm>
#include <cstdlib>
#include <new>
#include <thread>

#include "base/error.h"
#include "launch/failure.h"
#include "launch/launch.h"
#include "launch/signals.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ContainsRegex;
using testing::HasSubstr;

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
  EXPECT_THAT(stderr_text(), HasSubstr("error: rank 1: cannot read 'x.png'"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(Launch, BlamesTheCauseWhenAPeerFallsBeforeIt) {
  const int code = run(2, [](const Topology& t) -> int {
    if (t.rank == 0) throw PeerError("connection closed by peer");
    nap(0.3);
    throw std::bad_alloc();
  });
  EXPECT_EQ(code, 7) << stderr_text();
  EXPECT_THAT(stderr_text(), HasSubstr("error: rank 1: out of memory"));
  EXPECT_THAT(stderr_text(), HasSubstr("as a consequence, rank 0: connection closed by peer"));
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
  EXPECT_EQ(code, 3) << stderr_text();
  EXPECT_THAT(stderr_text(), HasSubstr("error: rank 1: cannot read 'x.png'"));
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

// NCCL's watchdog throws in a thread of its own, where it is not caught.
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
  EXPECT_THAT(stderr_text(), HasSubstr("rank 1: NCCL error in: ProcessGroupNCCL.cpp"));
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
  EXPECT_THAT(stderr_text(), HasSubstr("rank 2 was killed by signal 9 (SIGKILL)"));
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
  EXPECT_EQ(code, 124) << stderr_text();
  EXPECT_LT(watch.seconds(), 50);  // of the 60 that the others nap
  EXPECT_THAT(stderr_text(), ContainsRegex("error: rank 1: no sign of life for [0-9.]+ s in phase "
                                           "'evaluation' after step 5 \\(parallel.timeout\\)\n"));
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
  EXPECT_THAT(stderr_text(),
              ContainsRegex("error: rank 2: no sign of life for [0-9.]+ s in phase 'build'; "
                            "the process is suspended \\(parallel.timeout\\)\n"));
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
  EXPECT_EQ(read_text(folder_ + "/log.rank1"), "corrupted size vs. prev_size\n");
  EXPECT_THAT(stderr_text(), HasSubstr("the last lines of '" + folder_ +
                                       "/log.rank1':\n  corrupted size vs. prev_size\n"));
}

TEST_F(Launch, WritesTorchrunsErrorFile) {
  const auto file = folder_ + "/error.json";
  ::setenv("TORCHELASTIC_ERROR_FILE", file.c_str(), 1);
  run(1, [](const Topology&) -> int { throw Error(Exit::data, "no space left"); });
  ::unsetenv("TORCHELASTIC_ERROR_FILE");
  EXPECT_THAT(read_text(file), HasSubstr("ddptrain: no space left"));
}

}  // namespace
}  // namespace ddptrain
