#include "sources/shards/shard_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/files/files.h"
#include "sources/archives.h"
#include "sources/brace_pattern.h"
#include "sources/shards/shard_index.h"
#include "sources/shards/shard_set.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::string two_samples() {
  return tar_of({{"a.jpg", "image a"}, {"a.cls", "0"}, {"b.jpg", "image b"}, {"b.cls", "1"}});
}

template <class Action>
std::string shard_problem(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

// Expected names: Python's braceexpand 0.1.7.
TEST(Braces, ExpandAsPythonExpandsThem) {
  EXPECT_THAT(expand_braces("a-{000..002}.tar"),
              ElementsAre("a-000.tar", "a-001.tar", "a-002.tar"));
  EXPECT_THAT(expand_braces("{9..11}"), ElementsAre("9", "10", "11"));
  EXPECT_THAT(expand_braces("{3..1}"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(expand_braces("{x,y}{1..2}"), ElementsAre("x1", "x2", "y1", "y2"));
  EXPECT_THAT(expand_braces("plain"), ElementsAre("plain"));
}

TEST(Braces, ThatMeanNothingAreNamed) {
  const auto problem = [](const std::string& text) {
    return shard_problem([&] { expand_braces(text); });
  };
  EXPECT_EQ(problem("a{0..3"), "pattern 'a{0..3': a '{' without a '}'");
  EXPECT_EQ(problem("a}"), "pattern 'a}': a '}' without a '{'");
  EXPECT_EQ(problem("{a..z}"), "pattern '{a..z}': 'a..z' is no range of numbers, as in 000..099");
  EXPECT_EQ(problem("{0..99999999}"), "pattern '{0..99999999}': more than a million names");
  EXPECT_EQ(problem("{one}"), "pattern '{one}': '{one}' is neither a range nor a list");
}

TEST(ShardIndex, ComesBackFromItsBytesOrNotAtAll) {
  const ShardIndex index{7, 8, "ab", {{"a.jpg", 512, 7, {}}, {"a.cls", 1536, 1, "0"}}};
  const auto bytes = index.encode();
  const auto back = ShardIndex::decode(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->encode(), bytes);
  EXPECT_EQ(back->members[1].content, "0");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(ShardIndex::decode(bytes.substr(0, size)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= 4;
    EXPECT_FALSE(ShardIndex::decode(damaged)) << i;
  }
}

TEST(ShardIndex, IsWrittenNextToTheShardAndFollowsIt) {
  const TemporaryFolder folder;
  const auto shard = folder.write("s.tar", two_samples());
  EXPECT_EQ(indexed(local_files(), shard).members.size(), 4);
  const auto index = folder / "s.tar.index";
  ASSERT_TRUE(fs::exists(index));
  const auto written = fs::last_write_time(index);
  EXPECT_EQ(indexed(local_files(), shard).members[1].content, "0");
  EXPECT_EQ(fs::last_write_time(index), written);

  folder.write("s.tar", tar_of({{"c.jpg", "image c"}, {"c.cls", "5"}}));
  EXPECT_EQ(indexed(local_files(), shard).members.size(), 2);  // another size: rebuilt
  folder.write("s.tar.index", "damaged");
  EXPECT_EQ(indexed(local_files(), shard).members[1].content, "5");
}

TEST(ShardIndex, OfAShardOfTheSameSizeIsRebuiltAfterItsTimeChanged) {
  const TemporaryFolder folder;
  const auto shard = folder.write("s.tar", tar_of({{"a.cls", "1"}}));
  indexed(local_files(), shard);
  folder.write("s.tar", tar_of({{"a.cls", "2"}}));
  fs::last_write_time(shard, fs::last_write_time(shard) + std::chrono::seconds(5));
  EXPECT_EQ(indexed(local_files(), shard).members[0].content, "2");
}

TEST(ShardFiles, ReadMembersAsFiles) {
  const TemporaryFolder folder;
  const auto shard = folder.write("s.tar", two_samples());
  ShardFiles files(local_files());
  files.add(shard, indexed(local_files(), shard));
  EXPECT_EQ(files.read(shard + "/b.jpg", 0, 100), "image b");
  EXPECT_EQ(files.read(shard + "/b.jpg", 6, 100), "b");
  EXPECT_EQ(files.read(shard + "/b.jpg", 9, 100), "");
  EXPECT_EQ(files.info(shard + "/a.jpg").size, 7);
  EXPECT_EQ(files.info(shard + "/z.jpg").kind, FileKind::none);
  EXPECT_EQ(files.info(folder.path()).kind, FileKind::folder);
  const auto mapped = files.map(shard + "/a.jpg");
  EXPECT_EQ(std::string(mapped.bytes().begin(), mapped.bytes().end()), "image a");
  std::set<std::string> names;
  files.list(shard, [&](const FileEntry& entry) { names.insert(entry.path); });
  EXPECT_EQ(names.size(), 4);
}

TEST(ShardFiles, AShardThatWasCutLaterIsNamed) {
  const TemporaryFolder folder;
  const auto shard = folder.write("s.tar", two_samples());
  ShardFiles files(local_files());
  files.add(shard, indexed(local_files(), shard));
  fs::resize_file(shard, 2050);
  EXPECT_THAT(shard_problem([&] { files.read(shard + "/b.jpg", 0, 100); }), HasSubstr(shard));
}

TEST(ShardSet, NamesThoseOfAFolderOrAPattern) {
  const TemporaryFolder folder;
  for (const auto* name : {"t/b.tar", "t/a.tar", "t/notes.txt", "v-0.tar"})
    folder.write(name, two_samples());
  const auto names = [&](const std::string& pattern) {
    return shard_names(local_files(), folder.path(), pattern, "data.train");
  };
  EXPECT_THAT(names("t"), ElementsAre("t/a.tar", "t/b.tar"));
  EXPECT_THAT(names("."), ElementsAre("v-0.tar"));
  EXPECT_THAT(names("v-*.tar"), ElementsAre("v-0.tar"));
  EXPECT_THAT(names("t/b*"), ElementsAre("t/b.tar"));
  EXPECT_EQ(shard_problem([&] { names("x-*.tar"); }),
            "data.train: no shards (x-*.tar) in '" + folder.path() + "'");
  EXPECT_THAT(names("t/{b,a}.tar"), ElementsAre("t/b.tar", "t/a.tar"));
  EXPECT_EQ(shard_problem([&] { names("v-{0..1}.tar"); }),
            "data.train: shard '" + folder.path() +
                "/v-1.tar' cannot be read: No such file or directory");
}

}  // namespace
}  // namespace ddptrain
