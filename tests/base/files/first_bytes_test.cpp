#include "base/files/first_bytes.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(FirstBytes, AreThoseOfTheWordAndNoOthers) {
  const std::string_view text = "\x01\x82\x03\xf4\x05\x06\x07\x88\x09\x0a";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 8); ++i)
      expected |= std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
    EXPECT_EQ(first_bytes(text.substr(0, size)), expected) << size << " bytes";
  }
}

}  // namespace
}  // namespace ddptrain
