#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/output/print.h"
#include "base/quoting.h"

namespace ddptrain {
namespace {

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,b,,c", ','), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(trim("  a b\n"), "a b");
}

TEST(EditDistance, CountsASwapOfNeighborsOnce) {
  EXPECT_EQ(edit_distance("weight_decy", "weight_decay"), 1u);
  EXPECT_EQ(edit_distance("epcohs", "epochs"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Nearest, FindsATypoAndRefusesTheUnrelated) {
  EXPECT_EQ(nearest("weight_decy", {"momentum", "weight_decay"}), "weight_decay");
  EXPECT_EQ(nearest("Adam", {"sgd", "adam"}), "adam");
  EXPECT_EQ(nearest("color", {"lr", "momentum"}), "");
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
  for (const double nan : {std::nan(""), -std::nan("")}) {  // whose sign says nothing
    EXPECT_EQ(format_number(nan), "nan");
    EXPECT_EQ(format_fixed(nan, 2), "nan");
  }
  EXPECT_EQ(format_number(3), "3");
}

TEST(Units, ReadLikeAPersonWritesThem) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1258291), "1.2 MiB");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(0.5), "0.5 s");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(format_seconds(0.00002), "0.02 ms");
  EXPECT_EQ(format_seconds(0.09996), "0.1 s");
  EXPECT_EQ(format_seconds(59.96), "1 min 0 s");
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

TEST(Shown, IsOneLineThatSteersNothing) {
  EXPECT_EQ(shown("größe 日本 \xF0\x9F\x98\x80"), "größe 日本 \xF0\x9F\x98\x80");
  EXPECT_EQ(shown("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
  EXPECT_EQ(shown("a\nerror: b\r\tc"), "a\\nerror: b\\r\\tc");
  EXPECT_EQ(shown(std::string("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(shown("\xff\xc3 \xed\xa0\x80"), "\\xff\\xc3 \\xed\\xa0\\x80") << "no UTF-8";
  EXPECT_EQ(shown("a\u202Eb\u2066c\u200F"), "a\\u202eb\\u2066c\\u200f") << "direction";
  EXPECT_EQ(shown("\u0085\u009b\u2028\uFEFF"), "\\x85\\x9b\\u2028\\ufeff");
  EXPECT_EQ(shown("\U000E0041"), "\\U000e0041") << "a tag";
}

TEST(Shown, IsNoCommandOfCi) {
  EXPECT_EQ(shown("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(shown("  ::set-env name=a::b"), "  \\x3a:set-env name=a::b");
  EXPECT_EQ(shown("std::string"), "std::string");
  EXPECT_EQ(shown("a ##[error]b ##vso[task]c"), "a \\x23#[error]b \\x23#vso[task]c");
  EXPECT_EQ(shown("## a ##"), "## a ##");
}

TEST(Shown, IsBounded) {
  const auto text = shown(std::string(1000, 'a') + std::string(1000, 'b'), 40);
  EXPECT_EQ(text, std::string(30, 'a') + " ... (1960 bytes left out) ... " + std::string(10, 'b'));
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\u65e5";
  EXPECT_FALSE(find_invalid_utf8(shown(wide, 41)));
  EXPECT_EQ(shown(wide, 41).find('\\'), std::string::npos) << "no character is cut";
}

TEST(Shown, LinesStayLines) {
  EXPECT_EQ(shown_lines("a\tb\n ::c\n\x1b[0m\n"), "a\tb\n \\x3a:c\n\\x1b[0m\n");
}

TEST(Print, ShowsTextAndKeepsTheFormatsLines) {
  testing::internal::CaptureStdout();
  print_shown("%-6s|%3d %5ld %zu %.2f%%\n%s\n", "a\nb", 7, 8L, std::size_t{9}, 0.5, "::x");
  print_lines("one\n::two\n");
  print_exact("::raw\x1b\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "a\\nb  |  7     8 9 0.50%\n\\x3a:x\none\n\\x3a:two\n::raw\x1b\n");
}

// A spreadsheet runs "=cmd|' /C calc'!A0" (OWASP, "CSV Injection"); numbers stay numbers.
TEST(CsvCell, OfASpreadsheetIsNoFormula) {
  const auto cell = [](const std::string& text) { return csv_cell(text, CsvReader::spreadsheet); };
  for (const std::string text : {"=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "-", "+", "\uff1d1",
                                 "=cmd|' /C calc'!A0", "--1", "-1-1"})
    EXPECT_EQ(cell(text), "'" + text) << text;
  EXPECT_EQ(cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(cell("=A1,\"B\""), "\"'=A1,\"\"B\"\"\"");
  for (const std::string text : {"-1.5", "+2", "-1e-9", "a=b", "", "1-2", "cat", "\u65e5"})
    EXPECT_EQ(cell(text), text);
  EXPECT_EQ(csv_cell("=1+1"), "=1+1");
}

TEST(DidYouMean, NamesWhatIsNear) {
  EXPECT_EQ(did_you_mean("sgd"), "; did you mean 'sgd'?");
  EXPECT_EQ(did_you_mean("sgd", "; see the list"), "; did you mean 'sgd'?");
  EXPECT_EQ(did_you_mean(std::vector<std::string>{"a", "b", "c"}),
            "; did you mean 'a', 'b' or 'c'?");
}

TEST(DidYouMean, SaysWhatElseToDoWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean(std::string(), "; see the list"), "; see the list");
  EXPECT_EQ(did_you_mean(std::vector<std::string>{}, "; see the list"), "; see the list");
  EXPECT_EQ(did_you_mean(std::string()), "");
}

}  // namespace
}  // namespace ddptrain
