#include "sources/fetch/file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "sources/https_server.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string failure(const FileSource& source, const std::string& path) {
  try {
    provide_file(source, path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

TEST(ProvideFile, FetchesChecksAndNotesTheDigest) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "keys");
  folder.write("site/net.pth", "weights");
  const HttpsServer server(folder / "site", folder / "keys");
  const FileSource source{server.url("net.pth"), {}, sha256("weights")};
  const auto path = folder / "deep/er/net.pth";
  EXPECT_TRUE(provide_file(source, path));
  EXPECT_EQ(read_text(path), "weights");
  EXPECT_EQ(read_text(path + ".sha256"), sha256("weights") + "  net.pth\n");
  EXPECT_FALSE(provide_file(source, path)) << "it is there";
  EXPECT_FALSE(fs::exists(folder / "deep/er/.net.pth.download"));
}

TEST(ProvideFile, LeavesNothingWhereTheDigestIsAnother) {
  const TemporaryFolder folder;
  const auto file = folder.write("mine.pth", "other bytes");
  const auto path = folder / "there/net.pth";
  EXPECT_EQ(failure({"", file, "0123456789"}, path), "sha256 of '" + file + "' is " +
                                                         sha256("other bytes") +
                                                         ", and should begin with 0123456789");
  EXPECT_EQ(failure({"", file, sha256("weights")}, path),
            "sha256 of '" + file + "' is " + sha256("other bytes") + ", and should be " +
                sha256("weights"));
  for (const auto& entry : fs::directory_iterator(folder / "there"))
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
}

// As on a full disk.
TEST(ProvideFile, SaysWhyAFileCannotBeCopiedAndLeavesNothing) {
  const TemporaryFolder folder;
  const auto file = folder.write("mine.pth", std::string(100'000, 'w'));
  const auto path = folder / "there/net.pth";
  rlimit whole{};
  ::getrlimit(RLIMIT_FSIZE, &whole);
  const rlimit small{1000, whole.rlim_max};
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto found = failure({"", file, sha256("weights")}, path);
  ::setrlimit(RLIMIT_FSIZE, &whole);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(found, "cannot write '" + folder / "there/.net.pth.download" + "': File too large");
  for (const auto& entry : fs::directory_iterator(folder / "there"))
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
}

TEST(ProvideFile, TakesAFileOfThisMachineByTheFirstDigits) {
  const TemporaryFolder folder;
  const auto file = folder.write("mine.pth", "weights");
  EXPECT_TRUE(provide_file({"", file, sha256("weights").substr(0, 8)}, folder / "net.pth"));
  EXPECT_EQ(read_text(folder / "net.pth"), "weights");
  EXPECT_TRUE(fs::exists(file));
  EXPECT_EQ(failure({"", folder / "gone.pth", sha256("x")}, folder / "b.pth"),
            "cannot read '" + (folder / "gone.pth") + "': no such file or directory");
}

TEST(ProvideFile, ComparesAtLeastEightDigits) {
  EXPECT_TRUE(is_digest("0123456789abcdef", "01234567"));
  EXPECT_TRUE(is_digest("0123456789abcdef", "0123456789ABCDEF"));
  EXPECT_FALSE(is_digest("0123456789abcdef", "0123456"));
  EXPECT_FALSE(is_digest("0123456789abcdef", ""));
  EXPECT_FALSE(is_digest("0123456789abcdef", "11234567"));
}

}  // namespace
}  // namespace ddptrain
