#include "base/files/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Another folder for temporary files while it lives.
class OtherTmpdir {
 public:
  explicit OtherTmpdir(const std::string& folder) {
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~OtherTmpdir() {
    if (before_)
      ::setenv("TMPDIR", before_->c_str(), 1);
    else
      ::unsetenv("TMPDIR");
  }
  OtherTmpdir(const OtherTmpdir&) = delete;
  OtherTmpdir& operator=(const OtherTmpdir&) = delete;

 private:
  std::optional<std::string> before_;
};

std::string refusal_of(const std::string& start) {
  try {
    const ScratchFolder folder(start);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "made";
}

TEST(ScratchFolder, IsOursAloneAndGoneInTheEnd) {
  const TemporaryFolder home;
  const OtherTmpdir tmpdir(home.path());
  std::string path;
  {
    const ScratchFolder folder("ddptrain-here-");
    path = folder.path();
    EXPECT_TRUE(path.starts_with(home / "ddptrain-here-")) << path;
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fs::create_directories(path + "/a/b");
    std::ofstream(path + "/a/b/file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(ScratchFolder, StandsWhereAnAbsoluteStartSays) {
  const TemporaryFolder home;
  const ScratchFolder folder(home / "data.unpacked-");
  EXPECT_EQ(fs::path(folder.path()).parent_path(), home.path());
}

/// A process that has a folder of this start until it is killed.
class Owner {
 public:
  explicit Owner(const std::string& start) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const ScratchFolder folder(start);
      char text[256] = "";
      folder.path().copy(text, sizeof text - 1);
      [[maybe_unused]] const auto written = ::write(ends[1], text, sizeof text);
      ::pause();
    }
    char path[256] = "";
    EXPECT_EQ(::read(ends[0], path, sizeof path), 256);
    path_ = path;
    for (const int end : ends) ::close(end);
  }
  ~Owner() { kill(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  const std::string& path() const { return path_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  std::string path_;
};

TEST(ScratchFolder, RemovesThoseOfKilledProcessesAlone) {
  const TemporaryFolder home;
  const auto start = home / "ddptrain-here-";
  Owner killed(start);
  const Owner running(start);
  Owner other(home / "ddptrain-there-");
  killed.kill();
  other.kill();
  fs::create_directory(start + "config");  // of as many letters, and no scratch folder
  fs::create_directory_symlink(running.path(), start + "linked");
  const ScratchFolder folder(start);
  EXPECT_FALSE(fs::exists(killed.path()));
  for (const auto& kept :
       {running.path(), other.path(), start + "config", start + "linked", folder.path()})
    EXPECT_TRUE(fs::exists(kept)) << kept;
}

TEST(ScratchFolder, OfKilledProcessesAreRemovedWhateverTheyWereFor) {
  const TemporaryFolder home;
  const OtherTmpdir tmpdir(home.path());
  Owner launcher("ddptrain-"), tester("ddptrain-test-");
  const Owner running("ddptrain-");
  launcher.kill();
  tester.kill();
  fs::create_directory(home / "ddptrain-data");  // a user's own
  remove_abandoned_folders();
  EXPECT_FALSE(fs::exists(launcher.path()));
  EXPECT_FALSE(fs::exists(tester.path()));
  EXPECT_TRUE(fs::exists(running.path()));
  EXPECT_TRUE(fs::exists(home / "ddptrain-data"));
}

TEST(ScratchFolder, SaysWhereItCannotBeMade) {
  const TemporaryFolder home;
  const OtherTmpdir tmpdir(home / "none");
  EXPECT_THAT(refusal_of("ddptrain-"),
              testing::MatchesRegex("no folder for temporary files: .+ \\(TMPDIR\\)"));
  EXPECT_EQ(refusal_of(home / "none/data-"),
            "cannot make a folder in '" + (home / "none") + "': No such file or directory");
}

}  // namespace
}  // namespace ddptrain
