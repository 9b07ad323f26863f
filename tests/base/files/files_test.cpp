#include "base/files/files.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/digest.h"
#include "support/temporary_folder.h"

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

/// Why a reader refuses a path.
template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "";
}

TEST_F(Files, WhatIsNoRegularFileIsRefusedAtOnce) {
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", path("link"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, path("socket").c_str(), sizeof name.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ::close(socket);
  const auto expect = [&](const std::string& file, const std::string& kind) {
    const auto expected = "cannot read '" + file + "': it is " + kind + ", not a regular file";
    EXPECT_EQ(refusal([&] { read_text(file); }), expected);
    EXPECT_EQ(refusal([&] { read_beginning(file, 10); }), expected);
    EXPECT_EQ(refusal([&] { digest_file(DigestKind::sha256, file); }), expected);
    EXPECT_EQ(refusal([&] { InputFile input(file); }), expected);
  };
  expect(path("pipe"), "a pipe");
  expect(path("link"), "a device");
  expect(path("socket"), "a socket");
  expect(folder.string(), "a folder");
}

TEST_F(Files, AreReadUpToABound) {
  const auto path = (folder / "a.txt").string();
  write_atomically(path, "12345");
  EXPECT_EQ(read_text(path, 5), "12345");
  EXPECT_EQ(refusal([&] { read_text(path, 4); }),
            "cannot read '" + path + "': it has more than 4 B");
  EXPECT_EQ(read_beginning(path, 4), "1234");
  fs::resize_file(path, std::uintmax_t{1} << 40);  // a hole
  EXPECT_NE(refusal([&] { read_text(path); }), "");
  EXPECT_NE(read_text("/proc/self/stat"), "") << "the kernel says that it has no bytes";
}

TEST_F(Files, APipeOfTheCommandLineIsReadUpToABound) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "123456", 6), 6);
  ::close(ends[1]);
  EXPECT_EQ(read_given("/dev/fd/" + std::to_string(ends[0]), 4), "1234");
  ::close(ends[0]);
  EXPECT_EQ(read_given("/dev/zero", 4), std::string(4, '\0'));
}

TEST_F(Files, APipeThatIsWaitedForEndsWithASignal) {
  const auto path = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto child = ::fork();
  if (child == 0) {
    read_given(path, 10);
    ::_exit(0);
  }
  ::usleep(50'000);
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST_F(Files, AFileThatBecameShorterIsToldFrom) {
  const auto path = (folder / "a").string();
  write_atomically(path, "12345");
  const InputFile file(path);
  char bytes[4];
  file.read(bytes, 4, 1);
  EXPECT_EQ(std::string(bytes, 4), "2345");
  EXPECT_EQ(refusal([&] { file.read(bytes, 4, 2); }),
            "cannot read '" + path + "': it became shorter");
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

TEST_F(Files, ALockThatIsTakenIsSeenFromOutside) {
  const auto path = (folder / "lock").string();
  EXPECT_FALSE(FileLock::is_taken(path));
  EXPECT_FALSE(fs::exists(path));  // asking makes no file
  {
    const FileLock lock(path);
    EXPECT_TRUE(FileLock::is_taken(path));
  }
  EXPECT_FALSE(FileLock::is_taken(path));
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

TEST(FreeSpace, IsThatOfTheNearestFolderThatIsThere) {
  const TemporaryFolder home;
  EXPECT_EQ(existing_folder(home.path()), home.path());
  EXPECT_EQ(existing_folder(home / "runs/small/001"), home.path());
  const auto space = free_space(home / "runs/small");
  EXPECT_EQ(space.folder, home.path());
  EXPECT_EQ(space.unknown, "");
  EXPECT_LE(space.bytes, static_cast<std::int64_t>(std::filesystem::space(home.path()).capacity));
  EXPECT_GT(space.bytes, 0);
}

TEST(FreeSpace, IsLookedForFromTheCurrentFolder) {
  EXPECT_EQ(existing_folder("there-is-no-such-folder"), std::filesystem::current_path());
}

}  // namespace
}  // namespace ddptrain
