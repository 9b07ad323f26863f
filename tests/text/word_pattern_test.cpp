#include "text/word_pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ddptrain {
namespace {

using Pieces = std::vector<std::string>;

constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

Pieces pieces_by(std::string_view regex, std::string_view text) {
  const auto end_of = find_word_pattern(regex);
  Pieces all;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = end_of(text, at);
    all.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return all;
}

// As tokenizers 0.23.3 cuts them, Split(Regex(...), "isolated").
TEST(WordPattern, CutsAsGpt2) {
  EXPECT_EQ(pieces_by(gpt2_pattern, "I'LL say:\tDon't!  12345 "),
            (Pieces{"I", "'", "LL", " say", ":", "\t", "Don", "'t", "!", " ", " 12345", " "}));
  EXPECT_EQ(pieces_by(gpt2_pattern, "a\r\n\r\n  b \n\n"),
            (Pieces{"a", "\r\n\r\n ", " b", " \n\n"}));
  EXPECT_EQ(pieces_by(gpt2_pattern, "é½…\n.\n\u00a0\u3000z"),
            (Pieces{"é", "½", "…", "\n", ".", "\n\u00a0", "\u3000", "z"}));
  EXPECT_EQ(pieces_by(gpt2_pattern, "  \t"), (Pieces{"  \t"}));
}

TEST(WordPattern, CutsAsLlama3) {
  EXPECT_EQ(pieces_by(llama3_pattern, "I'LL say:\tDon't!  12345 "),
            (Pieces{"I", "'LL", " say", ":", "\tDon", "'t", "!", " ", " ", "123", "45", " "}));
  EXPECT_EQ(pieces_by(llama3_pattern, "a\r\n\r\n  b \n\n"),
            (Pieces{"a", "\r\n\r\n", " ", " b", " \n\n"}));
  EXPECT_EQ(pieces_by(llama3_pattern, "x'ſ\u0301é½…\n.\n\u00a0\u3000z"),
            (Pieces{"x", "'ſ", "\u0301é", "½", "…\n", ".\n", "\u00a0", "\u3000z"}));
}

TEST(WordPattern, CutsAsQwen) {
  EXPECT_EQ(pieces_by(qwen_pattern, "Don't!  123 "),
            (Pieces{"Don", "'t", "!", " ", " ", "1", "2", "3", " "}));
}

TEST(WordPattern, KnowsNoOther) { EXPECT_EQ(find_word_pattern(R"(\w+)"), nullptr); }

}  // namespace
}  // namespace ddptrain
