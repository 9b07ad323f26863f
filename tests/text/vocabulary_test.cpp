#include "text/vocabulary.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using Tokens = std::vector<std::string>;

TEST(Words, KeepTheirNumbersHoweverManyThereAre) {
  Words words;
  for (int i = 0; i < 100000; ++i)
    ASSERT_EQ(words.add(std::to_string(i) + "-word"), static_cast<std::uint32_t>(i));
  for (int i = 0; i < 100000; i += 7) {
    ASSERT_EQ(words.find(std::to_string(i) + "-word"), i);
    ASSERT_EQ(words[static_cast<std::size_t>(i)], std::to_string(i) + "-word");
  }
  EXPECT_EQ(words.find("100000-word"), -1);
  EXPECT_EQ(words.add("7-word"), 7);
  EXPECT_EQ(words.size(), 100000);
}

TEST(Words, AreNumberedTogetherAsOneByOne) {
  Words words;
  words.add("known");
  const std::vector<std::string_view> all{"a", "known", "a", "somewhat longer", "b"};
  std::array<std::uint32_t, 5> numbers{};
  words.add(all, numbers.data());
  EXPECT_EQ(numbers, (std::array<std::uint32_t, 5>{1, 0, 1, 2, 3}));
  EXPECT_EQ(words.size(), 4);
}

TEST(Words, TellApartWhatDiffersAnywhere) {
  Words words;
  std::string longest(100000, 'a');
  EXPECT_EQ(words.add(""), 0);
  EXPECT_EQ(words.add(longest), 1);
  longest.back() = 'b';
  EXPECT_EQ(words.add(longest), 2);
  EXPECT_EQ(words.add(std::string_view("\0", 1)), 3);
  EXPECT_EQ(words.add(std::string_view("\0\0", 2)), 4);
  EXPECT_EQ(words.find(""), 0);
}

TEST(MakeVocabulary, PutsSpecialTokensFirstAndFillsUpToEight) {
  constexpr std::string_view special[] = {"xxunk", "xxpad"};
  const auto made =
      make_vocabulary({{"b", 3}, {"xxpad", 9}, {"a", 3}, {"rare", 2}, {"c", 4}}, special, {3, 100});
  EXPECT_EQ(made, (Tokens{"xxunk", "xxpad", "c", "b", "a", "xxfake", "xxfake", "xxfake"}));
}

TEST(Vocabulary, GivesUnknownTokensTheirNumberAndFillersNone) {
  const Vocabulary vocabulary({"xxunk", "xxpad", "a", "xxfake", "xxfake"}, 0);
  EXPECT_EQ(vocabulary.number("a"), 2);
  EXPECT_EQ(vocabulary.number("b"), 0);
  EXPECT_EQ(vocabulary.number("xxfake"), 0);
}

}  // namespace
}  // namespace ddptrain
