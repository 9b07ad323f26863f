#include "launch/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

sigset_t none() {
  sigset_t signals;
  ::sigemptyset(&signals);
  return signals;
}

ForkedWork forked(std::function<int()> work, Tie tie = Tie::own_group) {
  return {"a test", tie, none(), std::move(work)};
}

int sleeps() {
  ::pause();
  return 0;
}

TEST(ChildProcess, EndsWithTheCodeOfItsWork) {
  ChildProcess child(forked([] { return 17; }));
  child.wait();
  EXPECT_FALSE(child.running());
  EXPECT_EQ(child.code(), 17);
  EXPECT_EQ(child.killed_by(), 0);
}

TEST(ChildProcess, EndsAsABugWhereItsWorkThrows) {
  ChildProcess child(forked([]() -> int { throw std::runtime_error("thrown"); }));
  child.wait();
  EXPECT_EQ(child.code(), static_cast<int>(Exit::bug));
}

TEST(ChildProcess, SaysWhichSignalKilledIt) {
  ChildProcess child(forked(sleeps));
  EXPECT_FALSE(child.reap());
  child.send(SIGTERM);
  child.wait();
  EXPECT_EQ(child.killed_by(), SIGTERM);
  EXPECT_EQ(child.code(), 128 + SIGTERM);
}

TEST(ChildProcess, HasAGroupOfItsOwnOrOurs) {
  for (const auto tie : {Tie::own_group, Tie::our_group}) {
    const auto ours = ::getpgrp();
    ChildProcess child(forked([ours] { return ::getpgrp() == ours ? 1 : 2; }, tie));
    child.wait();
    EXPECT_EQ(child.code(), tie == Tie::our_group ? 1 : 2);
  }
}

// Also where this process was started by one that ignores the ends of children.
TEST(ChildProcess, IsCollectedWhateverOurParentIgnores) {
  ::signal(SIGCHLD, SIG_IGN);
  ChildProcess child(forked([] { return 3; }));
  child.wait();
  EXPECT_EQ(child.code(), 3);
}

TEST(ChildProcess, IsKilledAndCollectedWhereItIsLeft) {
  { const ChildProcess child(forked(sleeps)); }
  { const ChildProcess child(forked(sleeps, Tie::our_group)); }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(ChildProcess, RunsAProgramOnTheGivenFiles) {
  const TemporaryFolder folder;
  write_atomically(folder / "in", "a line\n");
  const int in = ::open((folder / "in").c_str(), O_RDONLY | O_CLOEXEC);
  const int out = ::open((folder / "out").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ChildProcess child(ProgramStart{{"sh", "-c", "cat; exit 5"}, in, out, STDERR_FILENO});
  child.wait();
  EXPECT_EQ(child.code(), 5);
  EXPECT_EQ(read_text(folder / "out"), "a line\n");
  ::close(in);
  ::close(out);
}

TEST(ChildProcess, SaysWhyAProgramCannotBeRun) {
  const ProgramStart missing{{"no-such-program"}, STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  try {
    const ChildProcess child(missing);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

}  // namespace
}  // namespace ddptrain
