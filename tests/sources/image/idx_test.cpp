#include "sources/image/idx.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

/// A head with these sizes, and `length` bytes behind it.
std::vector<std::uint8_t> idx_file(const std::vector<std::uint32_t>& sizes, std::size_t length) {
  std::vector<std::uint8_t> bytes{0, 0, 8, static_cast<std::uint8_t>(sizes.size())};
  for (const auto size : sizes)
    for (const int shift : {24, 16, 8, 0})
      bytes.push_back(static_cast<std::uint8_t>(size >> shift));
  bytes.resize(bytes.size() + length);
  return bytes;
}

TEST(IdxSizes, AreThoseOfTheHead) {
  EXPECT_THAT(idx_sizes(idx_file({2, 3, 5}, 30), 3, "x"), ElementsAre(2, 3, 5));
  EXPECT_THAT(idx_sizes(idx_file({258}, 258), 1, "x"), ElementsAre(258));
}

// Each size fits the length, and their product is 2^64 + length.
TEST(IdxSizes, WhoseProductOverflowsAreRefused) {
  const auto bytes = idx_file({2'884'324, 2'244'379, 2'849'571}, 2'900'900);
  EXPECT_THAT([&] { idx_sizes(bytes, 3, "x"); },
              ThrowsMessage<Error>("'x': cut short: its head asks for more"));
}

TEST(IdxSizes, ThatNeedAnotherLengthAreRefused) {
  for (const std::size_t length : {0, 29, 31})
    EXPECT_THROW(idx_sizes(idx_file({2, 3, 5}, length), 3, "x"), Error) << length;
  EXPECT_THROW(idx_sizes(idx_file({0, 3, 5}, 0), 3, "x"), Error);
}

}  // namespace
}  // namespace ddptrain
