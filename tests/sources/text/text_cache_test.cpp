#include "sources/text/text_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/file_use.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

TextPack small_pack() {
  TextPack pack;
  pack.classes = {"neg", "pos"};
  pack.tokens = {"xxunk", "xxpad", "a"};
  pack.padding = 1;
  pack.notes = {"a note"};
  pack.parts[0] = {{{"t/1", 0}, {"t/22", 1}}, {2, 5}, {2, 0, 2, 2, 0}};
  pack.parts[1] = {{{"v/1", 1}}, {1}, {2}};
  return pack;
}

void expect_small_pack(const PackedText& text) {
  EXPECT_EQ(text.classes(), (std::vector<std::string>{"neg", "pos"}));
  EXPECT_EQ(text.tokens().size(), 3);
  EXPECT_EQ(text.padding(), 1);
  EXPECT_EQ(text.notes(), (std::vector<std::string>{"a note"}));
  ASSERT_EQ(text.size(0), 2);
  ASSERT_EQ(text.size(1), 1);
  const auto second = text.document(0, 1);
  EXPECT_EQ(std::vector<std::int32_t>(second.begin(), second.end()),
            (std::vector<std::int32_t>{2, 2, 0}));
  EXPECT_EQ(text.name(0, 1), "t/22");
  EXPECT_EQ(text.label(0, 1), 1);
  EXPECT_EQ(text.name(1, 0), "v/1");
}

TEST(CachedText, IsMadeOnceAndReadAfterwards) {
  const TemporaryFolder folder;
  int made = 0;
  const auto make = [&] {
    ++made;
    return small_pack();
  };
  expect_small_pack(cached_text(folder / "deep/cache", "key", make));
  expect_small_pack(cached_text(folder / "deep/cache", "key", make));
  EXPECT_EQ(made, 1);
  cached_text(folder / "deep/cache", "other", make);
  EXPECT_EQ(made, 2);
}

TEST(CachedText, IsMadeAnewWhereAByteIsWrong) {
  const TemporaryFolder folder;
  int made = 0;
  const auto make = [&] {
    ++made;
    return small_pack();
  };
  cached_text(folder.path(), "key", make);
  const auto path = text_cache_file(folder.path(), "key");
  const auto whole = read_text(path);
  int wanted = 1;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    folder.write("key.ids", damaged);
    expect_small_pack(cached_text(folder.path(), "key", make));
    ASSERT_EQ(made, ++wanted) << "byte " << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, whole.size() - 8}) {
    folder.write("key.ids", whole.substr(0, size));
    expect_small_pack(cached_text(folder.path(), "key", make));
    ASSERT_EQ(made, ++wanted);
  }
}

TEST(CachedText, RemovesWhatAKilledProcessLeft) {
  const TemporaryFolder folder;
  folder.write("key.ids.tmp123", "half");
  folder.write("other.ids.tmp123", "not ours");
  cached_text(folder.path(), "key", small_pack);
  EXPECT_FALSE(fs::exists(folder / "key.ids.tmp123"));
  EXPECT_TRUE(fs::exists(folder / "other.ids.tmp123"));
}

TEST(CachedText, IsMadeByOneOfManyProcesses) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    const auto text = cached_text(folder.path(), "key", [&] {
      folder.write("made-by-" + std::to_string(::getpid()), "");
      ::usleep(100000);
      return small_pack();
    });
    ::_exit(text.size(0) == 2 ? 0 : 1);
  }
  for (const auto child : children) {
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int makers = 0;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    makers += entry.path().filename().string().starts_with("made-by-");
  EXPECT_EQ(makers, 1);
}

TEST(CachedText, NamesAFolderThatCannotBeWritten) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  try {
    cached_text(folder / "file/below", "key", small_pack);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("data.cache: cannot write in '" + folder.path()));
  }
}

TEST(CachedText, IsTheSameInMemory) { expect_small_pack(PackedText::in_memory(small_pack())); }

/// A folder of packed texts of a thousand bytes each, used so many hours ago.
struct Cache {
  TemporaryFolder folder;

  std::string add(char digit, int hours_ago) const {
    const auto name = std::string(64, digit) + ".ids";
    const auto path = folder.write(name, std::string(1000, 'x'));
    folder.write(name + ".lock", "");
    const auto used = fs::file_time_type::clock::now() - std::chrono::hours(hours_ago);
    fs::last_write_time(path, used);
    return path;
  }
};

TextCacheLimits limits(std::uintmax_t bytes, int unused_hours) {
  TextCacheLimits limits;
  limits.bytes = bytes;
  limits.unused = std::chrono::hours(unused_hours);
  return limits;
}

TEST(PruneTextCache, RemovesWhatNobodyUsedForLong) {
  const Cache cache;
  const auto old = cache.add('a', 50), older = cache.add('b', 60), recent = cache.add('c', 40);
  prune_text_cache(cache.folder.path(), limits(10000, 48));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(old + ".lock"));
  EXPECT_FALSE(fs::exists(older));
  EXPECT_TRUE(fs::exists(recent));
  EXPECT_TRUE(fs::exists(recent + ".lock"));
}

TEST(PruneTextCache, RemovesTheLongestUnusedWhereThereIsTooMuch) {
  const Cache cache;
  const auto first = cache.add('b', 4), second = cache.add('a', 5), third = cache.add('0', 3);
  prune_text_cache(cache.folder.path(), limits(2000, 48));
  EXPECT_TRUE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
  EXPECT_TRUE(fs::exists(third));
  const auto fresh = cache.add('f', 0);
  prune_text_cache(cache.folder.path(), limits(0, 48));
  EXPECT_FALSE(fs::exists(first));
  EXPECT_FALSE(fs::exists(third));
  EXPECT_TRUE(fs::exists(fresh)) << "another process may be about to read it";
}

TEST(PruneTextCache, LeavesWhatIsInUseAndWhatIsNotOurs) {
  const Cache cache;
  const auto used = cache.add('a', 100), unused = cache.add('b', 90);
  const auto foreign = cache.folder.write("notes.ids", "mine");
  const auto back = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  fs::last_write_time(foreign, back);
  {
    const FileUse use(used);
    fs::last_write_time(used, back);
    prune_text_cache(cache.folder.path(), limits(0, 48));
    EXPECT_TRUE(fs::exists(used));
    EXPECT_FALSE(fs::exists(unused));
  }
  prune_text_cache(cache.folder.path(), limits(0, 48));
  EXPECT_FALSE(fs::exists(used));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST(PruneTextCache, HappensWhereATextIsMadeAndUseIsKnownByReading) {
  const Cache cache;
  const std::string key(64, 'c');
  const auto path = text_cache_file(cache.folder.path(), key);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24 * 365);
  cached_text(cache.folder.path(), key, small_pack);
  fs::last_write_time(path, old);
  cached_text(cache.folder.path(), key, small_pack);
  const auto unread = cache.add('d', 24 * 365);
  cached_text(cache.folder.path(), std::string(64, 'e'), small_pack);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(fs::exists(unread));
}

}  // namespace
}  // namespace ddptrain
