// The interface by its two implementations, and readers on the one that has no disk.
#include "sources/files/file_system.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "sources/archives.h"
#include "sources/csv/csv.h"
#include "sources/image/image_scan.h"
#include "sources/memory_files.h"
#include "sources/table/table_source.h"
#include "sources/text/text_records.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

/// The same files on disk and in memory, below root().
class BothFiles : public testing::TestWithParam<bool> {
 protected:
  void add(const std::string& name, const std::string& content) {
    GetParam() ? memory_.add(root() + "/" + name, content) : (void)folder_.write(name, content);
  }
  std::string root() const { return GetParam() ? "memory:/data" : folder_.path(); }
  std::string at(const std::string& name) const { return root() + "/" + name; }
  const FileSystem& files() const {
    return GetParam() ? static_cast<const FileSystem&>(memory_) : local_files();
  }

 private:
  TemporaryFolder folder_;
  test::MemoryFiles memory_;
};
INSTANTIATE_TEST_SUITE_P(Implementations, BothFiles, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "InMemory" : "OnDisk"; });

TEST_P(BothFiles, SayWhatIsAtAPath) {
  add("a/b.txt", "twelve bytes");
  EXPECT_EQ(files().info(at("a")).kind, FileKind::folder);
  EXPECT_EQ(files().info(at("none")).kind, FileKind::none);
  EXPECT_NE(files().info(at("none")).why, "");
  const auto info = files().info(at("a/b.txt"));
  EXPECT_EQ(info.kind, FileKind::file);
  EXPECT_EQ(info.size, 12U);
  EXPECT_EQ(info.why, "");
}

TEST_P(BothFiles, ListEntriesOfAFolderAndWalkAllBelowIt) {
  add("a/b.txt", "1");
  add("a/c/d.txt", "2");
  add("a/c/.hidden/e.txt", "3");
  std::vector<std::string> listed, walked;
  const auto why = files().list(at("a"), [&](const FileEntry& entry) {
    listed.push_back(entry.path + (entry.kind == FileKind::folder ? "/" : ""));
  });
  EXPECT_EQ(why, "");
  EXPECT_THAT(listed, UnorderedElementsAre(at("a/b.txt"), at("a/c/")));
  walk(files(), at("a"), [&](const FileEntry& entry) {
    walked.push_back(entry.path);
    return !entry.path.ends_with(".hidden");
  });
  EXPECT_THAT(walked,
              UnorderedElementsAre(at("a/b.txt"), at("a/c"), at("a/c/d.txt"), at("a/c/.hidden")));
  EXPECT_NE(files().list(at("none"), [](const FileEntry&) {}), "");
  EXPECT_THAT([&] { walk(files(), at("none"), [](const FileEntry&) { return true; }); },
              ThrowsMessage<Error>(HasSubstr("cannot read folder '" + at("none") + "': ")));
}

TEST_P(BothFiles, ReadRanges) {
  add("a", "0123456789");
  EXPECT_EQ(files().read(at("a"), 0, 3), "012");
  EXPECT_EQ(files().read(at("a"), 7, 100), "789");
  EXPECT_EQ(files().read(at("a"), 10, 5), "");
  EXPECT_EQ(files().read(at("a"), 11, 5), "");
  EXPECT_EQ(read_text(files(), at("a"), 10), "0123456789");
  EXPECT_THAT([&] { read_text(files(), at("a"), 9); },
              ThrowsMessage<Error>("cannot read '" + at("a") + "': it has more than 9 B"));
  EXPECT_THAT([&] { files().read(at("none"), 0, 1); },
              ThrowsMessage<Error>(HasSubstr("cannot read '" + at("none") + "': ")));
  EXPECT_EQ(digest_of(files(), at("a")), sha256("0123456789"));
}

TEST_P(BothFiles, DigestFilesOfSeveralPieces) {
  const std::string content(std::size_t{3} << 24, 'a');
  add("a", content);
  add("b", content + "b");
  EXPECT_EQ(digest_of(files(), at("a")), sha256(content));
  EXPECT_EQ(digest_of(files(), at("b")), sha256(content + "b"));
}

TEST_P(BothFiles, MapWholeFilesAndInflateThem) {
  const TemporaryFolder folder;
  write_gzip(folder / "packed", "a,b\n1,2\n");
  add("plain", "a,b\n1,2\n");
  add("packed", read_text(folder / "packed"));
  add("cut", read_text(folder / "packed").substr(0, 20));
  add("empty", "");
  for (const auto* name : {"plain", "packed"}) {
    const auto file = files().map(at(name));
    EXPECT_EQ(file.path(), at(name));
    EXPECT_EQ(std::string(file.bytes().begin(), file.bytes().end()), "a,b\n1,2\n");
  }
  EXPECT_THAT([&] { files().map(at("cut")); },
              ThrowsMessage<Error>("'" + at("cut") + "' is cut short or damaged (gzip)"));
  EXPECT_THAT([&] { files().map(at("empty")); },
              ThrowsMessage<Error>("'" + at("empty") + "' is empty"));
}

TEST(LocalFiles, FollowsLinksToFilesAndWalksIntoNoLinkedFolder) {
  const TemporaryFolder folder;
  folder.write("a/b.txt", "1");
  std::filesystem::create_directory_symlink(folder / "a", folder / "a/again");
  std::filesystem::create_symlink(folder / "a/b.txt", folder / "a/c.txt");
  std::filesystem::create_symlink(folder / "none", folder / "a/lost.txt");
  std::vector<std::string> files, folders, others;
  walk(local_files(), folder / "a", [&](const FileEntry& entry) {
    (entry.kind == FileKind::file     ? files
     : entry.kind == FileKind::folder ? folders
                                      : others)
        .push_back(entry.path);
    return true;
  });
  EXPECT_THAT(files, UnorderedElementsAre(folder / "a/b.txt", folder / "a/c.txt"));
  EXPECT_THAT(folders, ElementsAre(folder / "a/again"));
  EXPECT_THAT(others, ElementsAre(folder / "a/lost.txt"));
  EXPECT_EQ(local_files().info(folder / "a/again").kind, FileKind::folder);
  EXPECT_EQ(local_files().info(folder / "a/lost.txt").kind, FileKind::none);
}

// The key of a text cache has it.
TEST(LocalFiles, ChangesAreTimesAsStdFilesystemCountsThem) {
  const TemporaryFolder folder;
  const auto path = folder.write("a", "1");
  EXPECT_EQ(local_files().info(path).changed,
            std::filesystem::last_write_time(path).time_since_epoch().count());
}

TEST_P(BothFiles, HoldTablesOfCsv) {
  add("a.csv", "name,price\nx,1\n\"y,z\",2\n");
  add("b.csv", "name\nx\nx,1\n");
  const Csv csv(at("a.csv"), {}, files());
  EXPECT_EQ(csv.path(), at("a.csv"));
  EXPECT_EQ(csv.cell(1, 0), "y,z");
  EXPECT_EQ(open_table(at("a.csv"), {}, files())->cell(1, 1), "2");
  EXPECT_THAT([&] { Csv(at("b.csv"), {}, files()); },
              ThrowsMessage<Error>(HasSubstr(at("b.csv") + ":3: column ")));
}

TEST_P(BothFiles, HoldFoldersOfImages) {
  for (const auto* name : {"cat/2.jpg", "cat/1.PNG", "dog/a.txt", "dog/.x.png", ".git/b.png"})
    add(std::string("train/") + name, "-");
  const ImageScan scan(root(), image_extensions(), files());
  EXPECT_THAT(scan.images("train"), ElementsAre("train/cat/1.PNG", "train/cat/2.jpg"));
}

TEST_P(BothFiles, HoldTextsInLinesOfJson) {
  add("a.jsonl", "{\"text\": \"one\", \"label\": 1}\n\n{\"text\": \"two\", \"label\": 2}\n");
  const auto records =
      read_json_lines(at("a.jsonl"), {}, Labels::known, InvalidUtf8::error, files());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].texts, std::vector<std::string>{"two"});
  EXPECT_EQ(records[1].label, "2");
  EXPECT_EQ(records[1].place, at("a.jsonl") + ":3");
}

}  // namespace
}  // namespace ddptrain
