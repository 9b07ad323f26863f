// Zip files and safetensors that are damaged, or made to cost much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "hostile_reading.h"

namespace ddptrain {
namespace {

using namespace hostile;
using namespace torch_bytes;
using testing::EndsWith;
using testing::HasSubstr;

TEST(HostileZip, AFlippedBitIsSeen) {
  const auto weight = dict(text("w") + tensor(storage("Float", "2"), {"2"}, {"1"}));
  auto bytes = file(weight, "12345678");
  bytes[bytes.find("12345678") + 3] ^= 1;
  EXPECT_THAT(
      said_to(bytes),
      EndsWith(
          "x.pth' is no sound zip file: 'data/0' is damaged: its checksum (CRC-32) is another"));
}

TEST(HostileZip, UnpacksToALittleMoreThanItHas) {
  const std::string zeros(64 << 20, '\0');
  const auto weight = dict(text("w") + tensor(storage("Byte", "67108864"), {"67108864"}, {"1"}));
  EXPECT_THAT(said_to(zip({{"a/data.pkl", weight}, {"a/data/0", zeros, true}})),
              EndsWith("x.pth' is no sound zip file: it would unpack to more than 32 times its "
                       "size; torch writes without compression"));
  std::vector<ZipEntry> many;
  for (int i = 0; i < 100; ++i)
    many.push_back({"a/data/" + std::to_string(i), std::string(1 << 20, '\0'), true});
  EXPECT_THAT(said_to(zip(many)),
              EndsWith("x.pth' is no sound zip file: it would unpack to more than 32 times its "
                       "size; torch writes without compression"));
  const auto small = dict(text("w") + tensor(storage("Float", "2"), {"2"}, {"1"}));
  EXPECT_EQ(said_to(zip({{"a/data.pkl", small, true}, {"a/data/0", "12345678", true}})), "read");
}

TEST(HostileZip, NamesAreThereAndOnce) {
  EXPECT_THAT(said_to(zip({{"", "x"}})),
              EndsWith("x.pth' is no sound zip file: an entry has no name"));
  EXPECT_THAT(said_to(zip({{"a/x", "1"}, {"a/x", "2"}})),
              EndsWith("x.pth' is no sound zip file: 'a/x' comes twice"));
}

/// A zip file whose directory has other bytes at `at` of its first entry.
std::string with_entry(std::string bytes, std::size_t at, const std::string& other) {
  return bytes.replace(bytes.find("PK\1\2") + at, other.size(), other);
}

/// With a ZIP64 field for the size of its only entry.
std::string with_large_size(std::string bytes, std::uint64_t size) {
  bytes = with_entry(with_entry(bytes, 24, std::string(4, '\xff')), 30, std::string("\x0c\0", 2));
  const auto directory = bytes.find("PK\1\2"), end = bytes.rfind("PK\5\6");
  const auto whole = static_cast<std::uint32_t>(end - directory + 12);
  bytes.replace(end + 12, 4, little_endian(whole));
  return bytes.insert(end, std::string("\1\0\x08\0", 4) + little_endian(size));
}

// APPNOTE 4.4.3: the newest version is 6.3; Python's zipfile refuses what needs another.
TEST(HostileZip, VersionsAreThoseOfTheFormat) {
  const auto weight = dict(text("w") + tensor(storage("Float", "1"), {"1"}, {"1"}));
  const auto whole = file(weight, "1234");
  const auto with_version = [&](std::size_t at, int version) {
    auto bytes = whole;
    bytes[at] = static_cast<char>(version & 0xff);
    bytes[at + 1] = static_cast<char>(version >> 8);
    return said_to(bytes);
  };
  for (const auto& [start, field] :
       {std::pair(whole.find("PK\1\2"), 6), std::pair(whole.find("PK\3\4"), 4)}) {
    const auto at = start + static_cast<std::size_t>(field);
    for (const int version : {0, 20, 45, 63}) EXPECT_EQ(with_version(at, version), "read");
    for (const int version : {64, 99, 255, 0x6363, 0xffff})
      EXPECT_THAT(with_version(at, version), HasSubstr("version")) << version;
  }
}

TEST(HostileZip, SizesAreThereAndFit) {
  const auto one = zip({{"a/x", "1"}});
  EXPECT_THAT(said_to(with_entry(one, 24, std::string(4, '\xff'))),
              EndsWith("x.pth' is no sound zip file: 'a/x' has no size"));
  const auto many = little_endian(std::uint32_t{1'000'000});
  EXPECT_THAT(said_to(with_entry(one, 20, many + many)),
              EndsWith("x.pth' is no sound zip file: 'x' claims more bytes than the file has"));
  EXPECT_THAT(said_to(with_large_size(zip({{"a/x", "1", true}}), std::uint64_t{1} << 32)),
              EndsWith("x.pth' is no sound zip file: 'a/x' is too large to be compressed"));
}

TEST(HostileZip, CutOrChangedAnywhereItIsReadOrRefused) {
  const auto whole =
      file(dict(text("w") + tensor(storage("Float", "2"), {"2"}, {"1"})), "12345678");
  const TemporaryFolder folder;
  const auto is_read = [&](const std::string& bytes) {
    write_bytes(folder / "x.pth", bytes);
    try {
      read_weights(folder / "x.pth");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      return false;
    }
    return true;
  };
  EXPECT_TRUE(is_read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(is_read(whole.substr(0, size))) << size;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      auto bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      is_read(bytes);
    }
}

// ---- safetensors

std::string safetensors_of(const std::string& json, const std::string& data = "") {
  return little_endian(static_cast<std::uint64_t>(json.size())) + json + data;
}

TEST(HostileSafetensors, ManyTensorsAreReadInLinearTime) {
  std::string json = "{";
  std::string data;
  for (int i = 0; i < 20'000; ++i) {
    const auto at = std::to_string(i);
    json += (i > 0 ? "," : "") + std::string("\"layer.") + at +
            R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + at + "," + std::to_string(i + 1) +
            "]}";
    data += 'x';
  }
  EXPECT_EQ(said_to(safetensors_of(json + "}", data), "x.safetensors"), "read");
}

TEST(HostileSafetensors, ManyKeysAreRefusedInLinearTime) {
  std::string keys;
  for (int i = 0; i < 60'000; ++i) keys += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"\"";
  EXPECT_EQ(said_to(safetensors_of("{\"__metadata__\":{" + keys + "}}"), "x.safetensors"), "read");
  EXPECT_THAT(
      said_to(safetensors_of("{\"w\":{" + keys + "}}"), "x.safetensors"),
      EndsWith("x.safetensors' is no sound safetensors file: tensor 'w' has the unknown key '0'"));
  EXPECT_THAT(
      said_to(safetensors_of("{" + keys + "}"), "x.safetensors"),
      EndsWith(
          "x.safetensors' is no sound safetensors file: tensor '0' is not described by an object"));
}

TEST(HostileSafetensors, TextBehindANulIsNotIgnored) {
  EXPECT_THAT(
      said_to(safetensors_of(std::string("{}\0{\"w\":1}", 10)), "x.safetensors"),
      EndsWith("x.safetensors' is no sound safetensors file: there is a NUL in its header"));
  EXPECT_THAT(said_to(safetensors_of("{} {}"), "x.safetensors"),
              EndsWith("x.safetensors' is no sound safetensors file: its header is not JSON"));
  EXPECT_EQ(said_to(safetensors_of("{}      "), "x.safetensors"), "read");
}

}  // namespace
}  // namespace ddptrain
