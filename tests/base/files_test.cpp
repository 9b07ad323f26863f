#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/temporary_name.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() : folder(fs::temp_directory_path() / ("ddptrain_files_" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~Files() override { fs::remove_all(folder); }
  fs::path folder;
};

TEST_F(Files, AreWrittenWholeAndLeaveNothingBeside) {
  const auto path = (folder / "a.txt").string();
  write_atomically(path, "one");
  write_atomically(path, std::string("t\0wo", 4));
  EXPECT_EQ(read_text(path), std::string("t\0wo", 4));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(Files, NobodyCanPutALinkWhereOneIsWritten) {
  const auto path = (folder / "a.txt").string(), other = (folder / "other").string();
  write_atomically(other, "other");
  fs::create_symlink(other, path + ".tmp" + std::to_string(::getpid()));  // a name once used
  write_atomically(path, "one");
  EXPECT_EQ(read_text(path), "one");
  EXPECT_EQ(read_text(other), "other");
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_NE(temporary_name(path), temporary_name(path));
}

TEST_F(Files, FailuresNameTheFileAndTheReason) {
  const auto path = (folder / "none" / "a.txt").string();
  try {
    read_text(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_EQ(error.what(), "cannot read '" + path + "': no such file or directory");
  }
  EXPECT_THROW(write_atomically(path, "x"), Error);
  write_atomically((folder / "file").string(), "");
  EXPECT_THROW(make_folders((folder / "file" / "below").string()), Error);
}

TEST_F(Files, AFolderYetToBeMadeIsWritableWhereItsParentIs) {
  EXPECT_TRUE(is_writable((folder / "a" / "b").string()));
  write_atomically((folder / "file").string(), "");
  EXPECT_FALSE(is_writable((folder / "file").string()));
}

TEST_F(Files, ALockKeepsOtherProcessesOut) {
  const auto path = (folder / "lock").string();
  const FileLock lock(path);
  EXPECT_TRUE(lock.held());
  const auto child = ::fork();
  if (child == 0) {
    const FileLock second(path, FileLock::Wait::not_at_all);
    ::_exit(second.held() ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// FIPS 180-2 appendix B, RFC 1321 appendix A.5.
TEST_F(Files, DigestsAreTheStandardOnes) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(md5("abc"), "900150983cd24fb0d6963f7d28e17f72");
  const auto path = (folder / "abc").string();
  write_atomically(path, "abc");
  EXPECT_EQ(digest_file(DigestKind::md5, path), md5("abc"));
  EXPECT_THROW(digest_file(DigestKind::md5, path + "x"), Error);
}

TEST(Clock, SaysUtcInIsoForm) {
  EXPECT_EQ(utc_now().size(), 20u);
  EXPECT_EQ(utc_now().back(), 'Z');
  EXPECT_GE(Stopwatch().seconds(), 0);
}

}  // namespace
}  // namespace ddptrain
