// `ddptrain cache` on folders as runs and set-up leave them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/file_use.h"
#include "base/files/files.h"
#include "base/json.h"
#include "cli/cli_output.h"
#include "support/temporary_folder.h"
#include "support/unreadable.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using test::cli_output;
using testing::HasSubstr;

/// A user whose caches are in a folder that lives as long as a test.
class CacheVerb : public testing::Test {
 protected:
  CacheVerb() {
    ::setenv("XDG_CACHE_HOME", home_.path().c_str(), 1);
    ::setenv("DDPTRAIN_DEPS", (home_ / "ddptrain").c_str(), 1);
  }
  ~CacheVerb() override {
    ::unsetenv("DDPTRAIN_DEPS");
    if (outer_.empty())
      ::unsetenv("XDG_CACHE_HOME");
    else
      ::setenv("XDG_CACHE_HOME", outer_.c_str(), 1);
  }

  std::string keep(const std::string& name, std::size_t bytes) const {
    return home_.write("ddptrain/" + name, std::string(bytes, 'x'));
  }

  Json listed() const {
    Json found = Json::object();
    for (const auto& each : parse_json(cli_output({"cache", "--format", "json"}).out))
      found[each.at("kind").get<std::string>()] = {each.at("files"), each.at("bytes")};
    return found;
  }

  std::string outer_ = ::getenv("XDG_CACHE_HOME") ? ::getenv("XDG_CACHE_HOME") : "";
  TemporaryFolder home_;
};

const std::string a(64, 'a'), b(64, 'b');

TEST_F(CacheVerb, SaysThatNothingIsKept) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"cache"}, {"cache", "list"}}) {
    const auto answer = cli_output(words);
    EXPECT_EQ(answer.out, "nothing is kept in " + home_ / "ddptrain" + "\n");
    EXPECT_EQ(answer.code, 0);
  }
  EXPECT_EQ(cli_output({"cache", "list", "--format", "json"}).out, "[]\n");
  EXPECT_EQ(cli_output({"cache", "clear"}).out, "0 B freed\n");
  EXPECT_EQ(cli_output({"cache", "clear", "text"}).out, "text: 0 files removed\n0 B freed\n");
}

TEST_F(CacheVerb, CountsFilesOfEachKindAndNoLocks) {
  keep("text/" + a + ".ids", 1000);
  keep("text/" + a + ".ids.lock", 0);
  keep("text/" + b + ".ids", 24);
  keep("shards/" + a + ".index", 10);
  keep("fetched/" + a + ".shard", 2048);
  keep("fetched/cache.lock", 0);
  keep("kernels/" + a + ".code", 5);
  keep("recipe.json", 7);
  keep("libtorch-2.11.0/torch/lib/libtorch.so", 30);
  keep("libtorch-2.11.0/torch/version.py", 3);
  keep("arrow-26.0.1/pyarrow/libarrow.so", 40);
  keep("mkdocs-1/bin/mkdocs", 2);
  keep("weights/resnet34-b627a593.pth", 11);
  keep("weights/mine.pth", 100);
  keep("of-another-tool", 6);
  EXPECT_EQ(listed(), parse_json(R"({"text": [2, 1024], "shards": [1, 10], "fetched": [1, 2048],
      "kernels": [1, 5], "weights": [1, 11], "schema": [1, 7], "libtorch": [2, 33],
      "arrow": [1, 40], "tools": [1, 2], "other": [1, 6]})"));
  const auto text = cli_output({"cache"}).out;
  EXPECT_THAT(text, HasSubstr("token ids of texts"));
  EXPECT_THAT(text, HasSubstr("total: 12 files, 3.1 KiB\n"));
}

TEST_F(CacheVerb, SaysWhenAKindWasLastUsed) {
  const auto path = keep("kernels/" + a + ".code", 5);
  const timespec times[] = {{1772368496, 0}, {1772368400, 0}};  // read, written
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const auto list = parse_json(cli_output({"cache", "--format", "json"}).out);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("last_used"), "2026-03-01T12:34:56Z");  // date -d @1772368496
  EXPECT_EQ(list[0].at("path"), home_ / "ddptrain/kernels");
}

TEST_F(CacheVerb, ClearsWhatARunMakesAgainAndLeavesDownloads) {
  keep("text/" + a + ".ids", 1000);
  keep("text/" + a + ".ids.lock", 0);
  keep("kernels/" + a + ".code", 24);
  keep("recipe.json", 7);
  keep("libtorch-2.11.0/torch/version.py", 3);
  keep("weights/resnet34-b627a593.pth", 11);
  const auto answer = cli_output({"cache", "clear"});
  EXPECT_EQ(answer.out, "text: 1 file removed\nkernels: 1 file removed\n1.0 KiB freed\n");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(listed(), parse_json(R"({"weights": [1, 11], "schema": [1, 7], "libtorch": [1, 3]})"));
  EXPECT_TRUE(fs::is_empty(home_ / "ddptrain/text"));
}

TEST_F(CacheVerb, ClearsDownloadsByTheirNames) {
  keep("libtorch-2.11.0/torch/version.py", 3);
  keep("arrow-26.0.1/pyarrow/libarrow.so", 40);
  keep("weights/resnet34-b627a593.pth", 11);
  keep("weights/resnet34-b627a593.pth.sha256", 2);
  keep("weights/mine.pth", 100);
  EXPECT_EQ(cli_output({"cache", "clear", "libtorch", "weights"}).out,
            "libtorch: 1 file removed\nweights: 2 files removed\n16 B freed\n");
  EXPECT_EQ(listed(), parse_json(R"({"arrow": [1, 40]})"));
  EXPECT_TRUE(fs::exists(home_ / "ddptrain/weights/mine.pth")) << "it is not ours";
}

TEST_F(CacheVerb, LeavesWhatAProcessUses) {
  const FileUse read(keep("text/" + a + ".ids", 1000));
  keep("text/" + b + ".ids", 10);
  keep("fetched/" + a + ".part", 100);
  const FileLock fetching(home_ / "ddptrain/fetched/" + a + ".part.lock");
  keep("kernels/" + a + ".code.tmp0123456789abcdef", 1);
  EXPECT_EQ(cli_output({"cache", "clear"}).out,
            "text: 1 file removed, 1 file (1000 B) in use\n"
            "fetched: 0 files removed, 1 file (100 B) in use\n"
            "kernels: 0 files removed, 1 file (1 B) in use\n"
            "10 B freed\n");
  EXPECT_TRUE(fetching.held());
  EXPECT_TRUE(fs::exists(home_ / "ddptrain/fetched/" + a + ".part.lock"));
}

TEST_F(CacheVerb, LeavesATextThatIsBeingWritten) {
  keep("text/" + a + ".ids", 1000);
  const FileLock writing(home_ / "ddptrain/text/" + a + ".ids.lock");
  EXPECT_EQ(cli_output({"cache", "clear", "text"}).out,
            "text: 0 files removed, 1 file (1000 B) in use\n0 B freed\n");
}

TEST_F(CacheVerb, LeavesLibrariesThatAProcessHasMapped) {
  const auto path = keep("libtorch-2.11.0/torch/lib/libtorch.so", 30);
  const InputFile file(path);
  void* mapped = ::mmap(nullptr, 30, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(cli_output({"cache", "clear", "libtorch"}).out,
            "libtorch: 0 files removed, 1 file (30 B) in use by process " +
                std::to_string(::getpid()) + "\n0 B freed\n");
  ::munmap(mapped, 30);
  EXPECT_EQ(cli_output({"cache", "clear", "libtorch"}).out,
            "libtorch: 1 file removed\n30 B freed\n");
}

TEST_F(CacheVerb, LeavesWhatSetUpIsDownloading) {
  keep("arrow-26.0.1/pyarrow/libarrow.so", 40);
  const FileLock downloading(home_ / "ddptrain/lock");
  EXPECT_EQ(cli_output({"cache", "clear", "arrow"}).out,
            "arrow: 0 files removed, 1 file (40 B) in use\n0 B freed\n");
}

TEST_F(CacheVerb, RemovesALinkAndNotWhatItLeadsTo) {
  const auto torch = home_.write("torch/version.py", "x");
  fs::create_directories(home_ / "ddptrain");
  fs::create_directory_symlink(home_ / "torch", home_ / "ddptrain/libtorch-2.11.0");
  EXPECT_EQ(cli_output({"cache", "clear", "libtorch"}).out,
            "libtorch: 1 file removed\n0 B freed\n");
  EXPECT_TRUE(fs::exists(torch));
  EXPECT_FALSE(fs::is_symlink(home_ / "ddptrain/libtorch-2.11.0"));
}

TEST_F(CacheVerb, RefusesWordsThatItDoesNotKnow) {
  const auto refusal = [](const std::vector<std::string>& words) {
    const auto answer = cli_output(words);
    EXPECT_EQ(answer.code, 2);
    return answer.err;
  };
  EXPECT_EQ(refusal({"cache", "lst"}),
            "error: 'cache' has no action 'lst'; did you mean 'list'?\n");
  EXPECT_EQ(refusal({"cache", "qqqqq"}),
            "error: 'cache' has no action 'qqqqq'; there are list, clear\n");
  EXPECT_EQ(refusal({"cache", "list", "text"}),
            "error: 'cache list' takes no word; it was given 'text'\n");
  EXPECT_EQ(refusal({"cache", "clear", "txt"}),
            "error: 'txt' is not a kind of cache; did you mean 'text'?\n");
  EXPECT_EQ(
      refusal({"cache", "clear", "qqqqqqqq"}),
      "error: 'qqqqqqqq' is not a kind of cache; there are text, images, shards, fetched, kernels, "
      "weights, schema, libtorch, arrow, tools\n");
  EXPECT_EQ(refusal({"cache", "clear", "--format", "json"}),
            "error: --format is for 'cache list'\n");
}

TEST_F(CacheVerb, ChecksAllKindsBeforeItDeletes) {
  keep("text/" + a + ".ids", 1000);
  EXPECT_EQ(cli_output({"cache", "clear", "text", "kernel"}).code, 2);
  EXPECT_EQ(listed(), parse_json(R"({"text": [1, 1000]})"));
}

TEST_F(CacheVerb, NamesTheFolderThatItMayNotRead) {
  keep("text/" + a + ".ids", 1000);
  const test::Unreadable folder(home_ / "ddptrain/text");
  if (!folder.holds()) GTEST_SKIP() << "root reads everything here";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"cache"}, {"cache", "clear"}}) {
    const auto answer = cli_output(words);
    EXPECT_EQ(answer.err, "error: cannot read the folder '" + home_ / "ddptrain/text" +
                              "': Permission denied\n");
    EXPECT_EQ(answer.code, 3);
  }
}

TEST_F(CacheVerb, NamesTheFileThatItMayNotRemove) {
  const auto path = keep("kernels/" + a + ".code", 5);
  fs::permissions(home_ / "ddptrain/kernels", fs::perms(0555));
  const auto elsewhere = home_.write("elsewhere/file", "");
  const test::Unreadable other(home_ / "elsewhere");
  if (!other.holds()) GTEST_SKIP() << "root may remove everything here";
  const auto answer = cli_output({"cache", "clear", "kernels"});
  EXPECT_EQ(answer.err, "error: cannot remove '" + path + "': Permission denied\n");
  EXPECT_EQ(answer.code, 3);
}

}  // namespace
}  // namespace ddptrain
