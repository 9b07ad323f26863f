// Recipes that chance has damaged: reading ends, with a tree or one problem at a place in the text.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "config/encode.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

const std::string kRecipe =
    "# c\nrecipe: 1\nextends: [a.yaml]\nmodel: &m {type: x, size: [1, 2.5], on: true}\n"
    "data:\n  root: ${env:A:-b}/c\n  list:\n    - {type: 'it''s', p: \"q\\\"\"}\n    - word\n"
    "  text: |\n    free: [text\n  folded: >-\n    x\nalias: *m\nnull_: ~\n";

std::string damaged(Stream& draw) {
  static const std::string pieces[] = {"[",  "]",  "{",   "}",  ",",   ":",  ": ", "- ",   "'",
                                       "\"", "\n", "  ",  "\t", "|",   ">",  "&a", "*a",   "!",
                                       "#",  "%",  "---", "? ", "...", "<<", "~",  "\xC3", "@"};
  std::string text = kRecipe;
  const auto edits = 1 + draw.below(6);
  for (std::uint64_t i = 0; i < edits; ++i) {
    const auto at = draw.below(text.size() + 1);
    if (draw.below(3) == 0)
      text.erase(at, draw.below(12));
    else
      text.insert(at, pieces[draw.below(std::size(pieces))]);
  }
  return text.substr(0, draw.below(8) == 0 ? draw.below(text.size() + 1) : text.size());
}

// A flow map takes the keys `a:b` and `c=d`; in a block there would be a ':' without its space, or
// a
// '=' in its place.
TEST(Reader, KeysThatAreNoWordsAreWrittenSoThatTheyRead) {
  const auto text = "x: {a:b: 1, d::e: 2}\n\"y:z\": {\"e:f\": " + std::string(90, 'w') +
                    "}\nz: {c=d: 1, -e: " + std::string(90, 'w') + "}\n'u [v': 1\n\"u {v\": 2\n";
  const auto result = read_yaml(text, "a.yaml");
  ASSERT_TRUE(result.problems.empty());
  const auto written = to_yaml(result.tree);
  const auto again = read_yaml(written, "b.yaml");
  ASSERT_TRUE(again.problems.empty()) << written;
  EXPECT_EQ(to_yaml(again.tree), written);
  ASSERT_NE(again.tree.find("x")->find("a:b"), nullptr);
}

// Outside of quotes such characters are refused: they cannot be seen, or only look like YAML's.
TEST(Reader, TextThatDeceivesIsWrittenInQuotes) {
  for (const std::string text : {"a\xC2\xA0z", "\xE2\x80\x8Bz", "a\xEF\xBB\xBF", "a\xE2\x80\xA8z",
                                 "\xE2\x80\x93z", "\xE2\x80\x9Cz",
                                 "gr\xC3\xB6\xC3\x9F"
                                 "e"}) {
    Node tree = Node::map();
    tree.set("key", Node::scalar(text));
    tree.set(text, Node::list({Node::scalar(text)}));
    const auto written = to_yaml(tree);
    const auto again = read_yaml(written, "b.yaml");
    ASSERT_TRUE(again.problems.empty()) << written << render(again.problems);
    EXPECT_EQ(again.tree.find("key")->text, text);
    ASSERT_NE(again.tree.find(text), nullptr) << written;
    EXPECT_EQ(again.tree.find(text)->items[0].text, text);
  }
}

TEST(Reader, EndsOnDamagedRecipesWithATreeOrOneProblem) {
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n') + 1;
  };
  int good = 0;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    Stream draw(hash_text("damaged recipes"), i);
    const auto text = damaged(draw);
    const auto result = read_yaml(text, "a.yaml");
    if (result.problems.empty()) {
      ++good;
      EXPECT_TRUE(result.tree.is_map()) << text;
      const auto again = read_yaml(to_yaml(result.tree), "b.yaml");
      ASSERT_TRUE(again.problems.empty()) << text << "\n" << to_yaml(result.tree);
      ASSERT_EQ(to_yaml(again.tree), to_yaml(result.tree)) << text;
      continue;
    }
    ASSERT_EQ(result.problems.size(), 1u) << text;
    ASSERT_LE(result.problems[0].place.line, lines(text)) << text;
    ASSERT_GE(result.problems[0].place.line, 1) << text;
  }
  EXPECT_GT(good, 250);
}

}  // namespace
}  // namespace ddptrain
