#include "sources/shards/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "sources/archives.h"
#include "sources/memory_files.h"
#include "sources/shards/samples.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using test::MemoryFiles;
using testing::HasSubstr;

nlohmann::json golden() {
  return nlohmann::json::parse(read_text(test::in_source("tests/golden/shards/shards.json")));
}

std::string golden_tar(const std::string& name) {
  return test::in_source("tests/golden/shards/" + name + ".tar");
}

const auto nothing = [](const TarMember&) { return false; };

std::vector<TarMember> members_of(const std::string& tar) {
  MemoryFiles files;
  files.add("a.tar", tar);
  return read_tar(files, "a.tar", nothing);
}

std::string tar_problem(const std::string& tar) {
  try {
    members_of(tar);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

class GoldenTar : public testing::TestWithParam<const char*> {};

TEST_P(GoldenTar, HasTheMembersThatPythonFinds) {
  const auto path = golden_tar(GetParam());
  const auto members = read_tar(local_files(), path, nothing);
  const auto expected = golden()["members"][GetParam()];
  ASSERT_EQ(members.size(), expected.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members[i].name, expected[i]["name"]);
    EXPECT_EQ(members[i].offset, expected[i]["offset"]);
    EXPECT_EQ(members[i].size, expected[i]["size"]);
    EXPECT_EQ(sha256(local_files().read(path, members[i].offset, members[i].size)),
              expected[i]["sha256"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, GoldenTar, testing::Values("ustar", "gnu", "pax", "webdataset"));

TEST(Tar, ReadsTheContentThatIsWanted) {
  const auto all = read_tar(local_files(), golden_tar("gnu"),
                            [](const TarMember& each) { return each.name == "folder/b.bin"; });
  for (const auto& member : all) EXPECT_EQ(member.content.has_value(), member.size == 5 * 256);
}

TEST(Tar, CutAnywhereIsNamed) {
  const auto whole = tar_of({{"a.txt", std::string(700, 'a')}, {"b.txt", "b"}});
  ASSERT_EQ(whole.size(), 512u * (1 + 2 + 1 + 1 + 2));
  for (const std::size_t size : {100u, 512u, 600u, 1024u, 1536u, 1600u, 2048u, 2060u, 2560u})
    EXPECT_THAT(tar_problem(whole.substr(0, size)), HasSubstr("shard 'a.tar'")) << size;
  EXPECT_THAT(tar_problem(whole.substr(0, 1536)), HasSubstr("is cut: no end-of-archive block"));
  EXPECT_EQ(tar_problem(whole.substr(0, 2560 + 512)), "none");  // one block of zeros is there
}

TEST(Tar, CompressedIsRefused) {
  EXPECT_EQ(tar_problem("\x1f\x8b and more"),
            "shard 'a.tar' is compressed (gzip); samples are read at random, so write it as plain "
            "tar");
}

TEST(Tar, DamageIsNamed) {
  auto tar = tar_of({{"a.txt", "a"}, {"b.txt", "b"}});
  tar[1024 + 3] ^= 1;  // in the name of the second header: its checksum is wrong
  EXPECT_THAT(tar_problem(tar), HasSubstr("shard 'a.tar' cannot be read as tar: "));
  EXPECT_THAT(tar_problem(std::string(2048, 'x')), HasSubstr("cannot be read as tar"));
  EXPECT_EQ(tar_problem(""), "shard 'a.tar' is empty");
}

TEST(Tar, ANameThatIsThereTwiceIsRefused) {
  EXPECT_EQ(tar_problem(tar_of({{"a.txt", "a"}, {"a.txt", "b"}})),
            "shard 'a.tar' has 'a.txt' twice");
}

TEST(ShardSamples, AreThoseOfWebDataset) {
  const auto path = golden_tar("webdataset");
  const auto members = read_tar(local_files(), path, nothing);
  const auto samples = samples_of(members, path);
  const auto expected = golden()["samples"];
  ASSERT_EQ(samples.size(), expected.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].key, expected[i]["key"]);
    ASSERT_EQ(samples[i].columns.size(), expected[i]["columns"].size());
    for (const auto& [extension, member] : samples[i].columns)
      EXPECT_EQ(sha256(local_files().read(path, member->offset, member->size)),
                expected[i]["columns"][extension]);
  }
}

// webdataset.tariterators.base_plus_ext and its doctest-like examples.
TEST(ShardSamples, KeysEndAtTheFirstDotOfTheName) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(key_and_extension("a/b.c/d.seg.PNG"), Pair("a/b.c/d", "seg.png"));
  EXPECT_EQ(key_and_extension("000.cls"), Pair("000", "cls"));
  EXPECT_EQ(key_and_extension("folder/README"), Pair());
  EXPECT_EQ(key_and_extension(".hidden"), Pair());
}

TEST(ShardSamples, TwoFilesOfOneExtensionAreRefused) {
  const std::vector<TarMember> members{{"a.jpg"}, {"a.JPG"}};
  try {
    samples_of(members, "s.tar");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "shard 's.tar': sample 'a' has two files .jpg");
  }
}

}  // namespace
}  // namespace ddptrain
