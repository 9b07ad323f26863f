#include "data/source.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "data/archives.h"
#include "data/unpack.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// Writes a .tar.gz, or a .zip where the name says so.
std::string write_archive(const TemporaryFolder& folder, const std::string& name,
                          const std::vector<Item>& items) {
  const auto path = folder / name;
  if (name.ends_with(".zip"))
    folder.write(name, zip_of(items));
  else
    write_gzip(path, tar_of(items));
  return path;
}

SourceSpec from_file(const std::string& path) {
  SourceSpec source;
  source.file = path;
  source.sha256 = digest_file(DigestKind::sha256, path);
  return source;
}

template <class Action>
std::string problem(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

const std::vector<Item> two_files{{"set/a/1.txt", "one"}, {"set/b/2.txt", "two"}};

TEST(Provide, UnpacksTarAndZipUnderTheWantedName) {
  for (const auto* name : {"set.tar.gz", "set.zip"}) {
    const TemporaryFolder folder;
    const auto root = folder / "deep/er/data";
    provide(from_file(write_archive(folder, name, two_files)), root);
    EXPECT_EQ(read_text(root + "/a/1.txt"), "one");
    EXPECT_EQ(read_text(root + "/b/2.txt"), "two");
    for (const auto& entry : fs::directory_iterator(folder / "deep/er"))
      EXPECT_TRUE(entry.path() == root || entry.path().extension() == ".lock") << entry.path();
  }
}

TEST(Provide, KeepsSeveralThingsAtTheTop) {
  const TemporaryFolder folder;
  const auto archive = write_archive(folder, "x.zip", {{"a.txt", "one"}, {"b/c.txt", "two"}});
  provide(from_file(archive), folder / "data/");
  EXPECT_EQ(read_text(folder / "data/a.txt"), "one");
  EXPECT_EQ(read_text(folder / "data/b/c.txt"), "two");
}

TEST(Provide, FetchesAndChecksBeforeUnpacking) {
  const TemporaryFolder folder;
  const auto archive = write_archive(folder, "set.tar.gz", two_files);
  SourceSpec source;
  source.url = "file://" + archive;
  source.md5 = std::string(32, '0');
  EXPECT_THAT(problem([&] { provide(source, folder / "data"); }), HasSubstr("md5 of"));
  EXPECT_FALSE(fs::exists(folder / "data"));
  source.md5 = digest_file(DigestKind::md5, archive);
  provide(source, folder / "data");
  EXPECT_EQ(read_text(folder / "data/a/1.txt"), "one");
}

TEST(Provide, LeavesAFolderAloneThatIsThere) {
  const TemporaryFolder folder;
  folder.write("data/mine.txt", "mine");
  provide(from_file(write_archive(folder, "set.tar.gz", two_files)), folder / "data");
  EXPECT_FALSE(fs::exists(folder / "data/a"));
}

TEST(Provide, IsDoneOnceByManyAtATime) {
  const TemporaryFolder folder;
  const auto source = from_file(write_archive(folder, "set.tar.gz", two_files));
  std::vector<std::thread> ranks;
  for (int i = 0; i < 4; ++i) ranks.emplace_back([&] { provide(source, folder / "data"); });
  for (auto& rank : ranks) rank.join();
  EXPECT_EQ(read_text(folder / "data/b/2.txt"), "two");
}

TEST(Provide, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  SourceSpec source;
  source.url = "file:///nowhere/x.zip";
  EXPECT_THAT(problem([&] { provide(source, folder / "d"); }), HasSubstr("wants a digest"));
  source.md5 = "0";
  EXPECT_THAT(problem([&] { provide(source, folder / "d"); }),
              HasSubstr("cannot fetch 'file:///nowhere/x.zip': no such file"));
  source.file = "x.zip";
  EXPECT_THAT(problem([&] { provide(source, folder / "d"); }), HasSubstr("either 'url' or 'file'"));
}

std::string unpacking(const std::vector<Item>& items) {
  const TemporaryFolder folder;
  const auto archive = write_archive(folder, "x.tar.gz", items);
  fs::create_directories(folder / "in/side");
  const auto said = problem([&] { unpack(archive, folder / "in/side"); });
  EXPECT_FALSE(fs::exists(folder / "in/evil"));
  EXPECT_FALSE(fs::exists(folder / "evil"));
  EXPECT_FALSE(fs::exists("/tmp/ddptrain-evil"));
  return said;
}

TEST(Unpack, NeverWritesOutsideOfItsFolder) {
  EXPECT_THAT(unpacking({{"../evil", "x"}}), HasSubstr("'../evil' leaves the folder"));
  EXPECT_THAT(unpacking({{"a/../../evil", "x"}}), HasSubstr("leaves the folder"));
  EXPECT_THAT(unpacking({{"/tmp/ddptrain-evil", "x"}}), HasSubstr("absolute path"));
  EXPECT_THAT(unpacking({{"l", "..", ItemType::link}}), HasSubstr("link that leaves"));
  EXPECT_THAT(unpacking({{"l", "/tmp", ItemType::link}}), HasSubstr("link that leaves"));
  EXPECT_THAT(unpacking({{"d/y", "..", ItemType::link}, {"d/x", "y/../evil", ItemType::link}}),
              HasSubstr("link that leaves"));
  EXPECT_THAT(unpacking({{"d/y", ".", ItemType::link}, {"d/y/../evil", "x"}}), HasSubstr("leaves"));
  EXPECT_THAT(unpacking({{"a/b/c", "../..", ItemType::link}, {"a/b/c/evil", "x"}}),
              HasSubstr("goes through a link"));
  EXPECT_THAT(unpacking({{"h", "../evil", ItemType::hard_link}}), HasSubstr("leaves the folder"));
}

TEST(Unpack, RefusesDevices) {
  EXPECT_THAT(unpacking({{"null", "", ItemType::character_device}}), HasSubstr("neither a file"));
  EXPECT_THAT(unpacking({{"pipe", "", ItemType::pipe}}), HasSubstr("neither a file"));
}

TEST(Unpack, KeepsLinksThatStayInside) {
  const TemporaryFolder folder;
  const auto archive = write_archive(folder, "x.tar.gz",
                                     {{"a/1.txt", "one"},
                                      {"b/l.txt", "../a/1.txt", ItemType::link},
                                      {"b/h.txt", "a/1.txt", ItemType::hard_link}});
  fs::create_directories(folder / "in");
  unpack(archive, folder / "in");
  EXPECT_EQ(read_text(folder / "in/b/l.txt"), "one");
  EXPECT_EQ(read_text(folder / "in/b/h.txt"), "one");
}

TEST(Unpack, SaysWhenAnArchiveIsCutShortOrNone) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "in");
  std::string noise;
  for (int i = 0; i < 100000; ++i) noise += static_cast<char>((i * 2654435761U) >> 13);
  const auto whole = read_text(write_archive(folder, "x.tar.gz", {{"a", noise}}));
  const auto cut = folder.write("cut.tar.gz", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(problem([&] { unpack(cut, folder / "in"); }), HasSubstr("cannot unpack '" + cut));
  const auto text = folder.write("text.zip", "no archive at all");
  EXPECT_THAT(problem([&] { unpack(text, folder / "in"); }), HasSubstr("cannot unpack '" + text));
}

}  // namespace
}  // namespace ddptrain
