#include "base/files/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace ddptrain {
namespace {

// RFC 3720, appendix B.4.
TEST(Crc32c, HasTheValuesOfItsStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
}

TEST(Crc32c, OfBothPartsIsThatOfAll) {
  EXPECT_EQ(crc32c_of_both(crc32c("12345"), crc32c("6789"), 4), 0xe3069283u);
  EXPECT_EQ(crc32c_of_both(crc32c("123456789"), crc32c(""), 0), 0xe3069283u);
  EXPECT_EQ(crc32c_of_both(crc32c(""), crc32c("123456789"), 9), 0xe3069283u);
  std::string all(3'000'017, '\0');
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * i + (i >> 9));
  for (const std::size_t first : {1ul, 7ul, 65'536ul, 2'999'999ul})
    EXPECT_EQ(
        crc32c_of_both(crc32c(all.substr(0, first)), crc32c(all.substr(first)), all.size() - first),
        crc32c(all))
        << first;
}

TEST(Crc32c, GoesOnWhereItStopped) { EXPECT_EQ(crc32c("6789", crc32c("12345")), 0xe3069283u); }

}  // namespace
}  // namespace ddptrain
