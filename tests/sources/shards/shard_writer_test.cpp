#include "sources/shards/shard_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files/digest.h"
#include "base/files/files.h"
#include "sources/shards/samples.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Samples 0 .. 9 of 600 bytes each and a class; counts those that were asked for.
std::vector<WrittenShard> write_ten(const std::string& folder, int& asked, int until = 10) {
  ShardWriter writer(folder, "train", 8192);
  for (int i = 0; i < until; ++i)
    writer.add("00" + std::to_string(i), [&] {
      ++asked;
      return std::vector<ShardColumn>{{"bin", std::string(600, static_cast<char>('a' + i))},
                                      {"cls", std::to_string(i)}};
    });
  return until == 10 ? writer.finish() : std::vector<WrittenShard>();
}

std::string read_by_python(const std::string& folder) {
  const auto output = folder + "/python.txt";
  const auto command =
      "/usr/bin/python3 -c \"import sys, tarfile, hashlib\n"
      "for path in sys.argv[1:]:\n"
      "    for each in tarfile.open(path):\n"
      "        content = tarfile.open(path).extractfile(each.name).read()\n"
      "        print(each.name, each.offset_data, hashlib.sha256(content).hexdigest())\" " +
      folder + "/train-*.tar > " + output;
  return std::system(command.c_str()) == 0 ? read_text(output) : "python failed";
}

// A sample has a header of 512 bytes and 1024 of content, and a header and 512: 2560 bytes. With
// the end of the archive, 1024 bytes, two fit into 8192 and a third does not.
TEST(ShardWriter, FillsShardsUpToTheirSize) {
  const TemporaryFolder folder;
  int asked = 0;
  const auto shards = write_ten(folder.path(), asked);
  ASSERT_EQ(shards.size(), 5);
  EXPECT_EQ(shards[0].name, "train-000000.tar");
  EXPECT_EQ(shards[0].samples, 2);
  EXPECT_EQ(shards[0].bytes, 2 * 2560 + 1024);
  for (const auto& shard : shards) {
    EXPECT_EQ(fs::file_size(folder / shard.name), shard.bytes);
    EXPECT_EQ(digest_file(DigestKind::sha256, folder / shard.name), shard.sha256);
  }
}

TEST(ShardWriter, WritesWhatPythonReads) {
  const TemporaryFolder folder;
  int asked = 0;
  std::string expected;
  for (const auto& shard : write_ten(folder.path(), asked)) {
    const auto index = indexed(local_files(), folder / shard.name);
    EXPECT_EQ(index.digest, shard.sha256);  // the writer's own index, not another
    for (const auto& member : index.members) {
      const auto i = member.name[2] - '0';
      const auto content = member.name.ends_with(".cls")
                               ? std::to_string(i)
                               : std::string(600, static_cast<char>('a' + i));
      expected += member.name + " " + std::to_string(member.offset) + " " + sha256(content) + "\n";
    }
  }
  EXPECT_EQ(read_by_python(folder.path()), expected);
}

TEST(ShardWriter, ItsIndexIsThatOfItsTar) {
  const TemporaryFolder folder;
  int asked = 0;
  const auto shard = folder / write_ten(folder.path(), asked)[1].name;
  const auto own = indexed(local_files(), shard);
  fs::remove(shard_index_path(shard));
  auto made = indexed(local_files(), shard);
  made.digest = own.digest;
  EXPECT_EQ(made.encode(), own.encode());
}

TEST(ShardWriter, GoesOnWhereItWasInterrupted) {
  const TemporaryFolder whole, parts;
  int asked = 0;
  const auto expected = write_ten(whole.path(), asked);
  EXPECT_EQ(asked, 10);
  asked = 0;
  write_ten(parts.path(), asked, 7);  // the fourth shard has one sample, and is not finished
  EXPECT_EQ(asked, 7);
  EXPECT_FALSE(fs::exists(parts / "train-000003.tar"));
  asked = 0;
  const auto rest = write_ten(parts.path(), asked);
  EXPECT_EQ(asked, 4);
  ASSERT_EQ(rest.size(), expected.size());
  for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[i].sha256, expected[i].sha256);
}

}  // namespace
}  // namespace ddptrain
