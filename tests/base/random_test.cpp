#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ddptrain {
namespace {

using Words = std::array<std::uint32_t, 4>;

// kat_vectors of Random123 1.14, philox4x32 with 10 rounds.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(HashText, IsFnv1a) {
  EXPECT_EQ(hash_text(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_text("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_text("foobar"), 0x85944171f73967e8u);
}

TEST(Stream, IsAFunctionOfItsKeyAndNothingElse) {
  Stream first(1, 2, 3), again(1, 2, 3), other(1, 2, 4), next(1, 3, 3);
  const auto word = first.word64();
  EXPECT_EQ(word, again.word64());
  EXPECT_NE(word, other.word64());
  EXPECT_NE(word, next.word64());
}

TEST(Stream, UniformHasItsMeanAndStaysInRange) {
  Stream stream(7, 0);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 5 * std::sqrt(1.0 / 12 / 100'000));
}

TEST(Stream, BelowIsUnbiased) {
  Stream stream(7, 1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts[stream.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 5 * std::sqrt(60'000 * 5.0 / 36));
  EXPECT_EQ(Stream(7, 2).below(1), 0u);
}

TEST(Stream, NormalHasMeanZeroAndDeviationOne) {
  Stream stream(7, 3);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = stream.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 100'000, 0, 5 / std::sqrt(100'000.0));
  EXPECT_NEAR(squares / 100'000, 1, 5 * std::sqrt(2.0 / 100'000));
}

TEST(Mix, SeparatesNeighbors) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t a = 0; a < 100; ++a)
    for (std::uint64_t b = 0; b < 100; ++b) seen.insert(mix(a, b));
  EXPECT_EQ(seen.size(), 10'000u);
}

}  // namespace
}  // namespace ddptrain
