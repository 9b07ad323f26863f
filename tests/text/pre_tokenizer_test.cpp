#include "text/pre_tokenizer.h"

#include <gtest/gtest.h>

#include "text/normalizer.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using Pieces = std::vector<std::string>;

Pieces cut(const json& section, const std::string& text, bool begins = true) {
  Pieces pieces;
  PreTokenizer(JsonSection(section, "t.json: pre_tokenizer"))
      .cut(text, begins, [&](std::string_view word) { pieces.emplace_back(word); });
  return pieces;
}

json metaspace(const std::string& scheme) {
  return {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", scheme}};
}

json split_at(const std::string& behavior) {
  return {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", behavior}};
}

// Expected words are those of tokenizers 0.23.3 in this file.
TEST(PreTokenizer, MarksSpaces) {
  EXPECT_EQ(cut(metaspace("always"), "a  b ▁c"), (Pieces{"▁a", "▁", "▁b", "▁", "▁c"}));
  EXPECT_EQ(cut(metaspace("never"), "a  b ▁c"), (Pieces{"a", "▁", "▁b", "▁", "▁c"}));
  EXPECT_EQ(cut(metaspace("always"), " x"), (Pieces{"▁x"}));
  EXPECT_EQ(cut(metaspace("always"), ""), Pieces{});
}

TEST(PreTokenizer, MarksTheBeginOfADocumentAlone) {
  EXPECT_EQ(cut(metaspace("first"), "a b", true), (Pieces{"▁a", "▁b"}));
  EXPECT_EQ(cut(metaspace("first"), "a b", false), (Pieces{"a", "▁b"}));
  json older{{"type", "Metaspace"}, {"replacement", "▁"}, {"add_prefix_space", false}};
  EXPECT_EQ(cut(older, "a b"), (Pieces{"a", "▁b"}));
}

TEST(PreTokenizer, SplitsAtAText) {
  EXPECT_EQ(cut(split_at("Removed"), " a  b "), (Pieces{"a", "b"}));
  EXPECT_EQ(cut(split_at("Isolated"), " a  b "), (Pieces{" ", "a", " ", " ", "b", " "}));
  EXPECT_EQ(cut(split_at("MergedWithPrevious"), " a  b "), (Pieces{" ", "a ", " ", "b "}));
  EXPECT_EQ(cut(split_at("MergedWithNext"), " a  b "), (Pieces{" a", " ", " b", " "}));
}

TEST(PreTokenizer, SplitsDigitsAndPunctuation) {
  json digits{{"type", "Digits"}, {"individual_digits", false}};
  EXPECT_EQ(cut(digits, "ab12 3c٣½"), (Pieces{"ab", "12", " ", "3", "c", "٣½"}));
  digits["individual_digits"] = true;
  EXPECT_EQ(cut(digits, "ab12 3c٣½"), (Pieces{"ab", "1", "2", " ", "3", "c", "٣", "½"}));
  EXPECT_EQ(cut({{"type", "Punctuation"}}, "a, b?!c"), (Pieces{"a", ",", " b", "?", "!", "c"}));
}

TEST(PreTokenizer, WritesBytesForThoseThatFollow) {
  const json bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}};
  const json digits{{"type", "Digits"}, {"individual_digits", true}};
  const json both{{"type", "Sequence"}, {"pretokenizers", {bytes, digits}}};
  EXPECT_EQ(cut(both, "é 12"), (Pieces{"Ã©", "Ġ", "1", "2"}));
}

std::string normalized(const json& section, std::string text) {
  Normalizer(JsonSection(section, "t.json: normalizer")).apply(text);
  return text;
}

TEST(Normalizer, PrependsAndReplaces) {
  const json prepend{{"type", "Prepend"}, {"prepend", "_"}};
  EXPECT_EQ(normalized(prepend, "a"), "_a");
  EXPECT_EQ(normalized(prepend, ""), "");
  const json blanks{{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", "-"}};
  EXPECT_EQ(normalized(blanks, "a  b c   "), "a-b c-");
  const json strip{{"type", "Strip"}, {"strip_right", false}};
  EXPECT_EQ(normalized(strip, "\u00a0 x "), "x ");
}

TEST(Normalizer, ComposesWhateverCombines) {
  EXPECT_EQ(normalized({{"type", "NFC"}}, "ÿ e\u0301"), "ÿ é");
  EXPECT_EQ(normalized({{"type", "NFKC"}}, "½ é"), "1\u20442 é");
}

}  // namespace
}  // namespace ddptrain
