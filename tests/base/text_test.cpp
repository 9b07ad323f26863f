#include "base/text.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,b,,c", ','), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(trim("  a b\n"), "a b");
}

TEST(EditDistance, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(edit_distance("weight_decy", "weight_decay"), 1u);
  EXPECT_EQ(edit_distance("epcohs", "epochs"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Nearest, FindsATypoAndRefusesTheUnrelated) {
  EXPECT_EQ(nearest("weight_decy", {"momentum", "weight_decay"}), "weight_decay");
  EXPECT_EQ(nearest("Adam", {"sgd", "adam"}), "adam");
  EXPECT_EQ(nearest("colour", {"lr", "momentum"}), "");
  EXPECT_EQ(nearest("x", {"lr"}), "");
}

TEST(Numbers, ReadWholeTextOrNothing) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_FALSE(parse_integer("12a"));
  EXPECT_FALSE(parse_integer("99999999999999999999"));
  EXPECT_EQ(parse_number("1e-4"), 1e-4);
  EXPECT_FALSE(parse_number("inf"));
  EXPECT_FALSE(parse_number("1e999"));
  EXPECT_FALSE(parse_number(""));
}

TEST(Numbers, FormatRoundTrips) {
  for (const double value : {0.1, 1.0 / 3, 1e-5, 3.0, -2.5e300})
    EXPECT_EQ(parse_number(format_number(value)), value);
  EXPECT_EQ(format_number(3), "3");
}

TEST(Units, ReadLikeAPersonWritesThem) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1258291), "1.2 MiB");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(125), "2 min 5 s");
  EXPECT_EQ(format_seconds(5400), "1 h 30 min");
  EXPECT_EQ(plural(1, "error"), "1 error");
  EXPECT_EQ(plural(3, "error"), "3 errors");
}

TEST(Utf8, CountsCharactersAndFindsTheFirstBadByte) {
  EXPECT_EQ(count_characters("größe"), 5u);
  EXPECT_FALSE(find_invalid_utf8("größe \xF0\x9F\x98\x80"));
  EXPECT_EQ(find_invalid_utf8("ab\xFFz"), 2u);
  EXPECT_EQ(find_invalid_utf8("a\xC0\x80"), 1u) << "overlong";
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0u) << "surrogate";
  EXPECT_EQ(find_invalid_utf8("a\xE2\x82"), 1u) << "cut short";
}

TEST(Utf8, IsFoundInvalidAtEveryPlaceOfALongText) {
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    EXPECT_FALSE(find_invalid_utf8(text.substr(0, at)));
    text[at] = static_cast<char>(0xe9);
    EXPECT_EQ(find_invalid_utf8(text), at);
    EXPECT_FALSE(find_invalid_utf8(std::string(at, 'a') + "\xc3\xa9" + std::string(40, 'a')));
  }
}

}  // namespace
}  // namespace ddptrain
