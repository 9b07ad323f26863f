#include "text/windows.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Pairs windows(std::size_t length, std::size_t most, std::size_t stride, WindowSide side) {
  Pairs pairs;
  for (const auto& window : token_windows(length, most, stride, side))
    pairs.emplace_back(window.first, window.last);
  return pairs;
}

TEST(TokenWindows, CoverATextFromEitherSide) {
  EXPECT_EQ(windows(10, 4, 0, WindowSide::start), (Pairs{{0, 4}, {4, 8}, {8, 10}}));
  EXPECT_EQ(windows(10, 4, 0, WindowSide::end), (Pairs{{6, 10}, {2, 6}, {0, 2}}));
}

TEST(TokenWindows, ShareTokens) {
  EXPECT_EQ(windows(10, 4, 2, WindowSide::start), (Pairs{{0, 4}, {2, 6}, {4, 8}, {6, 10}}));
  EXPECT_EQ(windows(9, 4, 1, WindowSide::end), (Pairs{{5, 9}, {2, 6}, {0, 3}}));
}

TEST(TokenWindows, AShortTextIsOne) {
  EXPECT_EQ(windows(4, 4, 2, WindowSide::start), (Pairs{{0, 4}}));
  EXPECT_EQ(windows(0, 4, 2, WindowSide::end), (Pairs{{0, 0}}));
}

}  // namespace
}  // namespace ddptrain
