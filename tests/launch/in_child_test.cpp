#include "launch/in_child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> asked = false;

/// Keeps a file until a signal asks it to stop.
std::string keep(const std::string& file) {
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, [](int) { asked = true; });
  std::ofstream(file) << "here";
  while (!asked) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  fs::remove(file);
  return "kept";
}

void wait_until(const std::string& file, bool exists) {
  while (fs::exists(file) != exists) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// A process that waits for a child which keeps the file.
pid_t keeper_of(const std::string& file) {
  const auto pid = ::fork();
  if (pid == 0) {
    in_child([&] { return keep(file); });
    ::_exit(0);
  }
  wait_until(file, true);
  return pid;
}

TEST(InChild, ReturnsWhatTheWorkReturned) {
  EXPECT_EQ(in_child([] { return std::string(100'000, 'x'); }), std::string(100'000, 'x'));
  EXPECT_THROW(in_child([]() -> std::string {
                 ::raise(SIGKILL);
                 return {};
               }),
               Error);
}

TEST(InChild, EndsByTheSignalOnceTheChildHasRemovedItsFiles) {
  const TemporaryFolder home;
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto pid = keeper_of(home / "file");
    ::kill(pid, signal);
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_FALSE(fs::exists(home / "file"));
  }
}

TEST(InChild, AsksTheChildToStopWhereItsParentIsKilled) {
  const TemporaryFolder home;
  const auto pid = keeper_of(home / "file");
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  wait_until(home / "file", false);
}

}  // namespace
}  // namespace ddptrain
