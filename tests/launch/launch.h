// The launcher in a process of its own, and what it leaves.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "base/files/files.h"
#include "launch/launcher.h"

namespace ddptrain::test {

using RankMain = std::function<int(const Topology&)>;

inline void nap(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

inline bool wait_for(const std::function<bool()>& condition, double seconds = 600) {
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
    std::string pattern = (std::filesystem::temp_directory_path() / "launch-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(folder_ + "/tmp");
  }
  void TearDown() override {
    if (launcher_ > 0) ::kill(launcher_, SIGKILL), ::waitpid(launcher_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }

  // The launcher in a process of its own, as the program would be.
  void start(int ranks, const RankMain& main, LaunchOptions options = {}) {
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

  int run(int ranks, const RankMain& main, const LaunchOptions& options = {}) {
    start(ranks, main, options);
    return wait();
  }

  void mark(const std::string& name) const {
    std::ofstream(folder_ + "/." + name) << ::getpid() << "\n";
    std::filesystem::rename(folder_ + "/." + name, folder_ + "/" + name);
  }
  bool marked(const std::string& name) const {
    return std::filesystem::exists(folder_ + "/" + name);
  }
  pid_t pid_of(const std::string& name) const { return std::stoi(read_text(folder_ + "/" + name)); }
  std::string stderr_text() const { return read_text(folder_ + "/err"); }
  bool nothing_left() const { return std::filesystem::is_empty(folder_ + "/tmp"); }
  static bool alive(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    return static_cast<bool>(std::getline(stat, text)) && text.find(") Z") == std::string::npos;
  }

  std::string folder_;
  pid_t launcher_ = 0;
};

}  // namespace ddptrain::test
