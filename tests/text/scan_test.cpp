#include "text/scan.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

/// The mark of the byte at `place`, if it is to be marked.
scan::Eight mark(bool marked, int place) {
  return marked ? scan::Eight{0x80} << 8 * place : scan::Eight{0};
}

TEST(Scan, MarksExactlyTheBytesMeant) {
  for (int byte = 0; byte < 256; ++byte)
    for (int place = 0; place < 8; ++place) {
      const auto alone = static_cast<scan::Eight>(byte) << 8 * place;
      const auto among = alone | (scan::each('A') & ~(scan::Eight{255} << 8 * place));
      const auto others = scan::high_bits & ~(scan::Eight{0x80} << 8 * place);
      EXPECT_EQ(scan::wide(among), mark(byte >= 128, place)) << byte;
      EXPECT_EQ(scan::zero(among), mark(byte == 0, place)) << byte;
      EXPECT_EQ(scan::equal(alone, '.'), mark(byte == '.', place)) << byte;
      EXPECT_EQ(scan::equal(among, 'A'), mark(byte == 'A', place) | others) << byte;
      EXPECT_EQ(scan::between(alone, 'A', 'Z'), mark(byte >= 'A' && byte <= 'Z', place)) << byte;
      EXPECT_EQ(scan::between(among, '\0', ' '), mark(byte <= ' ', place)) << byte;
    }
}

TEST(Scan, FindsTheFirstMarkOrStopsNearTheEnd) {
  const auto find = [](const std::string& text, std::size_t at) {
    return scan::find<1>(text, at, [](const char* p) { return scan::equal(scan::load(p), 'x'); });
  };
  for (std::size_t place = 0; place < 16; ++place) {
    std::string text(17, 'x');
    for (std::size_t i = 0; i < place; ++i) text[i] = 'a';
    EXPECT_EQ(find(text, 0), place);
  }
  EXPECT_EQ(find("axaaaaaaxa", 2), 2);           // eight bytes and one more are not left
  EXPECT_EQ(find(std::string(17, 'a'), 0), 16);  // the last byte is unspecified
}

}  // namespace
}  // namespace ddptrain
