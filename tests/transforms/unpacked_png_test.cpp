// PNG whose data are unpacked before libpng reads them, against zlib's uncompress.
#include <gtest/gtest.h>

#include "png_file.h"
#include "transforms/codecs/png_data.h"

namespace ddptrain {
namespace {

using test::big_endian;
using test::Bytes;
using test::deflated;
using test::png_chunk;
using test::png_file;

constexpr int width = 200, height = 250;

/// Rows of colors, each after its filter's byte: more than two stored blocks hold.
std::string rows(int count) {
  std::string text;
  for (int y = 0; y < count; ++y) {
    text += static_cast<char>(y % 5);
    for (int x = 0; x < 3 * width; ++x) text += static_cast<char>(x * x + 7 * y);
  }
  return text;
}

Bytes file_of(const std::string& data) { return png_file({width, height}, data); }

Bytes unpacked(const Bytes& file) { return unpacked_png({file, "a.png"}, {width, height}); }

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

TEST(UnpackedPng, HoldsTheSameRows) {
  const auto whole = text_of(unpacked(file_of(deflated(rows(height)))));
  const std::size_t at = whole.find("IDAT");
  ASSERT_NE(at, std::string::npos);
  const auto stream = whole.substr(at + 4);
  EXPECT_EQ(whole.substr(at - 4, 4), big_endian(stream.size() - 4));  // a checksum follows
  const auto header = text_of(file_of("")).substr(0, 33);
  EXPECT_EQ(whole.substr(0, at - 4), header);
  std::string found(rows(height).size(), '\0');
  uLongf size = found.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(found.data()), &size,
                       reinterpret_cast<const Bytef*>(stream.data()),
                       static_cast<uLong>(stream.size() - 4)),
            Z_OK);
  EXPECT_EQ(found, rows(height));
}

TEST(UnpackedPng, JoinsThePiecesOfTheData) {
  const auto data = deflated(rows(height));
  const auto one = text_of(file_of(data));
  const auto two = one.substr(0, 33) + png_chunk("IDAT", data.substr(0, 100)) +
                   png_chunk("IDAT", data.substr(100)) + png_chunk("IEND", "");
  EXPECT_EQ(unpacked({two.begin(), two.end()}), unpacked(file_of(data)));
}

TEST(UnpackedPng, IsNothingWhereTheDataAreDamagedOrOfAnotherLength) {
  const auto file = file_of(deflated(rows(height)));
  for (std::size_t at = 41; at + 12 < file.size(); at += 31) {
    auto damaged = file;
    damaged[at] ^= 4;
    EXPECT_TRUE(unpacked(damaged).empty()) << at;
    EXPECT_TRUE(unpacked({file.begin(), file.begin() + std::ptrdiff_t(at)}).empty()) << at;
  }
  EXPECT_TRUE(unpacked(file_of(deflated(rows(height - 1)))).empty());
  EXPECT_TRUE(unpacked(file_of(deflated(rows(height + 1)))).empty());
  EXPECT_TRUE(unpacked(file_of("")).empty());
}

}  // namespace
}  // namespace ddptrain
