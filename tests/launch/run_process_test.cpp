#include "launch/run_process.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

sigset_t unblocked() {
  sigset_t signals;
  ::sigemptyset(&signals);
  return signals;
}

Failure failure_after(const std::function<int()>& train) {
  RunProcess run(train, "", unblocked());
  run.child().wait();
  return run.failure();
}

TEST(RunProcess, FailsWithWhatItThrew) {
  const auto failure = failure_after([]() -> int {
    throw Error(Exit::data, "no such folder", Place{"recipe.yaml", 3, 1});
  });
  EXPECT_EQ(failure.code, Exit::data);
  EXPECT_EQ(failure.message, "no such folder");
  EXPECT_EQ(failure.place.line, 3);
}

TEST(RunProcess, ElseFailsWithTheLastErrorOfItsOutput) {
  const auto failure = failure_after([] {
    std::fputs("error: rank 0 was lost\nwarning: and this\n", stderr);
    return static_cast<int>(Exit::device);
  });
  EXPECT_EQ(failure.code, Exit::device);
  EXPECT_EQ(failure.message, "rank 0 was lost");
}

TEST(RunProcess, ElseFailsWithWhatItsCodeMeans) {
  const auto failure = failure_after([] { return ::raise(SIGKILL); });
  EXPECT_EQ(failure.code, Exit::memory);
  EXPECT_EQ(failure.message, "ended by SIGKILL");
}

TEST(RunProcess, WritesWhereItIsAsked) {
  const TemporaryFolder folder;
  const auto output = folder / "output.txt";
  RunProcess run([] { return std::puts("trained") < 0 ? 1 : 0; }, output, unblocked());
  run.child().wait();
  EXPECT_EQ(run.child().code(), 0);
  EXPECT_EQ(read_text(output), "trained\n");
}

}  // namespace
}  // namespace ddptrain
