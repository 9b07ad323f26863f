#include "sources/fetch/source.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "sources/archives.h"
#include "sources/fetch/unpack.h"
#include "sources/https_server.h"
#include "support/node.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StrEq;
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
  fs::create_directories(folder / "keys");
  fs::create_directories(folder / "site");
  const auto archive = write_archive(folder, "site/set.tar.gz", two_files);
  const HttpsServer server(folder / "site", folder / "keys");
  SourceSpec source;
  source.url = server.url("set.tar.gz");
  source.md5 = std::string(32, '0');
  const auto md5 = digest_file(DigestKind::md5, archive);
  EXPECT_EQ(problem([&] { provide(source, folder / "data"); }),
            "data.source.md5: md5 of '" + (folder / ".data.download") + "' is " + md5 +
                ", and the recipe says " + *source.md5);
  EXPECT_FALSE(fs::exists(folder / "data"));
  source.md5 = md5;
  provide(source, folder / "data");
  EXPECT_EQ(read_text(folder / "data/a/1.txt"), "one");
  EXPECT_FALSE(fs::exists(folder / ".data.download"));
}

/// A site with one archive, and what names it.
struct Site {
  Site() {
    fs::create_directories(folder / "keys");
    fs::create_directories(folder / "site");
    const auto archive = write_archive(folder, "site/set.tar.gz", two_files);
    size = static_cast<std::int64_t>(fs::file_size(archive));
    server.emplace(folder / "site", folder / "keys");
    source.url = server->url("set.tar.gz");
    source.sha256 = digest_file(DigestKind::sha256, archive);
  }
  std::string problem_with(std::int64_t bytes) {
    source.size = Size{bytes};
    return problem([&] { provide(source, folder / "data"); });
  }
  bool kept() const { return fs::exists(folder / ".data.download"); }

  TemporaryFolder folder;
  std::optional<HttpsServer> server;
  SourceSpec source;
  std::int64_t size = 0;
};

TEST(Provide, ADeclaredSizeIsTheSizeOfTheDownload) {
  Site site;
  EXPECT_THAT(site.problem_with(site.size + 7),
              HasSubstr(".download' has " + std::to_string(site.size) +
                        " bytes, and the recipe says " + std::to_string(site.size + 7)));
  EXPECT_FALSE(site.kept());
  EXPECT_THAT(site.problem_with(site.size - 1),
              HasSubstr("larger than it may be: more than " + std::to_string(site.size - 1) +
                        " bytes; data.source.size says"));
  EXPECT_FALSE(site.kept());
  EXPECT_FALSE(fs::exists(site.folder / "data"));
  EXPECT_EQ(site.problem_with(site.size), "none");
  EXPECT_EQ(read_text(site.folder / "data/a/1.txt"), "one");
}

TEST(Provide, ADeclaredSizeIsTheSizeOfAFile) {
  const TemporaryFolder folder;
  auto source = from_file(write_archive(folder, "x.zip", two_files));
  const auto size = static_cast<std::int64_t>(fs::file_size(*source.file));
  source.size = Size{size + 1};
  EXPECT_THAT(problem([&] { provide(source, folder / "data"); }),
              StrEq("data.source.size: '" + *source.file + "' has " + std::to_string(size) +
                    " bytes, and the recipe says " + std::to_string(size + 1)));
  EXPECT_TRUE(fs::exists(*source.file));
  source.size = Size{size};
  provide(source, folder / "data");
  EXPECT_EQ(read_text(folder / "data/a/1.txt"), "one");
}

TEST(Provide, SpaceIsLookedForBeforeADownload) {
  const TemporaryFolder folder;
  SourceSpec source;
  source.url = "https://me:word@localhost:1/set.tar.gz";  // never contacted
  source.md5 = std::string(32, '0');
  source.size = Size{std::int64_t{1} << 60};
  EXPECT_THAT(problem([&] { provide(source, folder / "data"); }),
              testing::StartsWith("no space to fetch 'https://localhost:1/set.tar.gz' into '" +
                                  folder.path() + "': it has 1024.0 PiB, "));
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

TEST(Provide, NamesTheOptionOfDataThatAreNotThere) {
  const TemporaryFolder folder;
  const auto message_of = [&](const std::string& option) {
    const nlohmann::json data{{"type", "image_folder"}, {option, folder / "none"}};
    return problem([&] { provide(fragment<Dataset>(data)); });
  };
  for (const std::string option : {"root", "file"})
    EXPECT_EQ(message_of(option),
              "data." + option + ": '" + (folder / "none") +
                  "' is not there; put the data there, write where they are, or "
                  "name an archive under data.source");
}

TEST(Provide, SaysWhatAnAddressCannotBe) {
  const TemporaryFolder folder;
  SourceSpec source;
  source.url = "file:///nowhere/x.zip?key=1";
  source.md5 = "0";
  EXPECT_EQ(problem([&] { provide(source, folder / "d"); }),
            "data.source.url: 'file:///nowhere/x.zip?...' is not https; fetch the archive yourself "
            "and name it under data.source.file");
  source.url = "https://localhost/x\ty.zip";
  EXPECT_EQ(problem([&] { provide(source, folder / "d"); }),
            "data.source.url: it has characters that no address has");
}

/// What is next to the data after an archive was refused, without the lock.
std::vector<std::string> left_by(const std::vector<Item>& items, const std::string& expected) {
  const TemporaryFolder folder;
  const auto archive = write_archive(folder, "x.tar.gz", items);
  EXPECT_THAT(problem([&] { provide(from_file(archive), folder / "in/data"); }),
              HasSubstr(expected));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "in"))
    if (entry.path().extension() != ".lock") names.push_back(entry.path().filename());
  return names;
}

TEST(Provide, ARefusedArchiveLeavesNothing) {
  const std::vector<std::string> nothing;
  EXPECT_EQ(left_by({{"set/a", "x"}, {"../evil", "x"}}, "leaves the folder"), nothing);
  EXPECT_EQ(left_by({{"set/a", "x"}, {"set/p", "", ItemType::pipe}}, "neither a file"), nothing);
}

TEST(Provide, WhatAKilledAttemptLeftIsRemoved) {
  const TemporaryFolder folder;
  folder.write(".data.unpacked-aBcDeF/data/a", "half");
  provide(from_file(write_archive(folder, "set.zip", two_files)), folder / "data");
  EXPECT_FALSE(fs::exists(folder / ".data.unpacked-aBcDeF"));
}

TEST(Provide, LinksAreCheckedAgainstTheirLastPlace) {
  const std::vector<std::string> nothing;
  const auto expected = "is a link that leaves the folder";  // once 'set' is taken off
  EXPECT_EQ(left_by({{"set/a", "x"}, {"set/l", "../secret", ItemType::link}}, expected), nothing);
  EXPECT_EQ(left_by({{"set/d/l", "../../x", ItemType::link}, {"set/a", "x"}}, expected), nothing);
  const TemporaryFolder folder;
  const auto archive =
      write_archive(folder, "x.tar.gz", {{"set/d/l", "../a", ItemType::link}, {"set/a", "one"}});
  provide(from_file(archive), folder / "data");
  EXPECT_EQ(read_text(folder / "data/d/l"), "one");
}

TEST(Provide, ReadsNamesInUtf8) {
  const TemporaryFolder folder;
  const auto archive = folder.write(
      "x.zip", zip_of({{"b\xc3\xa4r/\xe6\x97\xa5.txt", "one"}, {"a.txt", "two"}}, utf8_name));
  provide(from_file(archive), folder / "data");
  EXPECT_EQ(read_text(folder / "data/b\xc3\xa4r/\xe6\x97\xa5.txt"), "one");
}

std::string unpacking(const std::vector<Item>& items) {
  const TemporaryFolder folder;
  const auto archive = write_archive(folder, "x.tar.gz", items);
  fs::create_directories(folder / "in/side");
  const auto expected = problem([&] { unpack(archive, folder / "in/side"); });
  EXPECT_FALSE(fs::exists(folder / "in/evil"));
  EXPECT_FALSE(fs::exists(folder / "evil"));
  EXPECT_FALSE(fs::exists("/tmp/ddptrain-evil"));
  return expected;
}

TEST(Unpack, NeverWritesOutsideOfItsFolder) {
  EXPECT_THAT(unpacking({{"../evil", "x"}}),
              EndsWith("x.tar.gz' is refused: '../evil' leaves the folder"));
  EXPECT_THAT(unpacking({{"a/../../evil", "x"}}),
              EndsWith("x.tar.gz' is refused: 'a/../../evil' leaves the folder"));
  EXPECT_THAT(unpacking({{"/tmp/ddptrain-evil", "x"}}),
              EndsWith("x.tar.gz' is refused: '/tmp/ddptrain-evil' has an absolute path"));
  EXPECT_THAT(unpacking({{"l", "..", ItemType::link}}),
              EndsWith("x.tar.gz' is refused: 'l' is a link that leaves the folder"));
  EXPECT_THAT(unpacking({{"l", "/tmp", ItemType::link}}),
              EndsWith("x.tar.gz' is refused: 'l' is a link that leaves the folder"));
  EXPECT_THAT(unpacking({{"d/y", "..", ItemType::link}, {"d/x", "y/../evil", ItemType::link}}),
              EndsWith("x.tar.gz' is refused: 'd/x' is a link that leaves the folder"));
  EXPECT_THAT(unpacking({{"d/y", ".", ItemType::link}, {"d/y/../evil", "x"}}),
              EndsWith("x.tar.gz' is refused: 'd/y/../evil' leaves the folder"));
  EXPECT_THAT(unpacking({{"a/b/c", "../..", ItemType::link}, {"a/b/c/evil", "x"}}),
              EndsWith("x.tar.gz' is refused: 'a/b/c/evil' goes through a link"));
  EXPECT_THAT(unpacking({{"h", "../evil", ItemType::hard_link}}),
              EndsWith("x.tar.gz' is refused: '../evil' leaves the folder"));
}

TEST(Unpack, ALinkIsThereOnce) {
  EXPECT_THAT(unpacking({{"a", "x"}, {"l", "a", ItemType::link}, {"l", "y"}}),
              EndsWith("x.tar.gz' is refused: 'l' is there twice, once as a link"));
  EXPECT_THAT(unpacking({{"a", "x"}, {"l", "y"}, {"l", "a", ItemType::link}}),
              EndsWith("x.tar.gz' is refused: 'l' is there twice, once as a link"));
  EXPECT_THAT(unpacking({{"a", "x"}, {"l", "a", ItemType::link}, {"h", "l", ItemType::hard_link}}),
              EndsWith("x.tar.gz' is refused: 'h' is a link to a link"));
}

TEST(Unpack, RefusesDevices) {
  EXPECT_THAT(unpacking({{"null", "", ItemType::character_device}}),
              EndsWith("x.tar.gz' is refused: 'null' is neither a file nor a folder nor a link"));
  EXPECT_THAT(unpacking({{"pipe", "", ItemType::pipe}}),
              EndsWith("x.tar.gz' is refused: 'pipe' is neither a file nor a folder nor a link"));
}

TEST(Unpack, BoundsMembersBytesDepthAndNesting) {
  const TemporaryFolder folder;
  int count = 0;
  const auto message_of = [&](const std::string& archive, const UnpackLimits& limits) {
    const auto in = folder / ("in" + std::to_string(count++));
    fs::create_directories(in);
    return problem([&] { unpack(archive, in, limits); });
  };
  const auto two = write_archive(folder, "two.tar.gz", two_files);
  EXPECT_EQ(message_of(two, {1 << 20, 2}), "none");
  EXPECT_THAT(message_of(two, {1 << 20, 1}), HasSubstr("has more than 1 members"));
  EXPECT_THAT(message_of(two, {1 << 20, 2, 2}),
              EndsWith("two.tar.gz' is refused: 'set/a/1.txt...' lies in more than 2 folders"));
  const auto zeros = write_archive(folder, "zeros.tar.gz", {{"a", std::string(1 << 21, '\0')}});
  EXPECT_THAT(message_of(zeros, {1 << 20, 9}),
              EndsWith("zeros.tar.gz' is refused: it becomes larger than 1.0 MiB; unpack it "
                       "yourself if you trust it"));
  const auto stored = write_archive(folder, "zeros.zip", {{"a", std::string(1 << 21, '\0')}});
  EXPECT_THAT(message_of(stored, {1 << 20, 9}),
              EndsWith("zeros.zip' is refused: it becomes larger than 1.0 MiB; unpack it yourself "
                       "if you trust it"));
  write_gzip(folder / "twice.tar.gz", read_text(two));
  EXPECT_THAT(message_of(folder / "twice.tar.gz", {1 << 20, 9}),
              EndsWith("twice.tar.gz' is refused: it is packed more than once; unpack it yourself "
                       "if you trust it"));
}

TEST(Unpack, ALaterFileOfTheSameNameCounts) {
  const TemporaryFolder folder;
  const auto archive = write_archive(
      folder, "x.tar.gz",
      {{"d/a", "one"}, {"d/h", "d/a", ItemType::hard_link}, {"d/a", "three"}, {"e", "x"}});
  fs::create_directories(folder / "in");
  unpack(archive, folder / "in");
  EXPECT_EQ(read_text(folder / "in/d/a"), "three");
  EXPECT_EQ(read_text(folder / "in/d/h"), "one");
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
