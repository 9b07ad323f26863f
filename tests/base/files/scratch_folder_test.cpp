#include "base/files/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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

TEST(ScratchFolder, SaysWhereItCannotBeMade) {
  const TemporaryFolder home;
  const OtherTmpdir tmpdir(home / "none");
  EXPECT_THAT(refusal_of("ddptrain-"), HasSubstr("no folder for temporary files: "));
  EXPECT_THAT(refusal_of("ddptrain-"), HasSubstr(" (TMPDIR)"));
  EXPECT_EQ(refusal_of(home / "none/data-"),
            "cannot make a folder in '" + (home / "none") + "': No such file or directory");
}

}  // namespace
}  // namespace ddptrain
