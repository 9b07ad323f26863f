// docs/coming-from.md: every fragment of a recipe is good, keys and verbs exist, no name is left
// out.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "base/text.h"
#include "cli/laid_over.h"
#include "cli/paths.h"
#include "jobs/engine.h"

namespace ddptrain {
namespace {

std::string page() { return read_text(test::in_source("docs/coming-from.md")); }

std::vector<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

std::vector<std::string> blocks() {
  static const std::regex block("```yaml\n([^`]*)```");
  return matches(page(), block);
}

/// `Code` of the right-hand columns of tables.
std::vector<std::string> our_words() {
  static const std::regex code("`([^`]+)`");
  std::vector<std::string> words;
  for (const auto& line : split(page(), '\n'))
    if (const auto bar = line.find(" | "); line.starts_with("| ") && bar != std::string::npos)
      for (auto& word : matches(line.substr(bar), code)) words.push_back(std::move(word));
  return words;
}

bool begins_with_a_section(const std::string& path) {
  return !test::shapes_of(path.substr(0, path.find_first_of(".:"))).empty();
}

class ComingFrom : public test::LaidOver {};

TEST_F(ComingFrom, HasBlocksThatAreGoodRecipes) {
  EXPECT_GE(blocks().size(), 4u);
  for (const auto& block : blocks()) EXPECT_EQ(render(laid_over(block).problems), "") << block;
}

// `{model: tabular, data: {...}}` and `batch: {global: 64}` are fragments, `train.clip: {...}` an
// override.
TEST_F(ComingFrom, HasFragmentsThatAreGood) {
  static const std::regex several("\\{([a-z]+): .*\\}"), section("([a-z]+): .+"),
      option("([a-z]+(\\.[a-z_]+)+): (.+)");
  int good = 0;
  for (const auto& word : our_words()) {
    std::smatch match;
    const bool is_option = std::regex_match(word, match, option);
    if (!is_option && !std::regex_match(word, match, several) &&
        !std::regex_match(word, match, section))
      continue;
    if (!begins_with_a_section(match[1])) continue;
    const auto loaded =
        is_option ? laid_over("", {match[1].str() + "=" + match[3].str()}) : laid_over(word);
    EXPECT_EQ(render(loaded.problems), "") << word;
    ++good;
  }
  EXPECT_GE(good, 150);
}

TEST(ComingFromPage, NamesKeysThatExist) {
  static const std::regex key("[a-z]+(\\.[a-z_]+)+"), file(".*\\.(csv|jsonl?|md|txt|yaml)");
  int known = 0;
  for (const auto& word : our_words()) {
    if (!std::regex_match(word, key) || std::regex_match(word, file)) continue;
    if (!begins_with_a_section(word)) continue;
    EXPECT_FALSE(test::shapes_of(word).empty()) << word;
    ++known;
  }
  EXPECT_GE(known, 20);
  EXPECT_TRUE(begins_with_a_section("train.no_such_key") &&
              test::shapes_of("train.no_such_key").empty());
}

TEST(ComingFromPage, NamesVerbsThatExist) {
  static const std::regex command("`ddptrain ([a-z-]+)");
  const auto verbs = matches(page(), command);
  EXPECT_GE(verbs.size(), 10U);
  for (const auto& verb : verbs) EXPECT_TRUE(engine_program().find(verb)) << verb;
  EXPECT_FALSE(engine_program().find("no-such-verb"));
}

bool has_word(const std::string& text, const std::string& word) {
  const auto inside = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !inside(text[at - 1])) && (end == text.size() || !inside(text[end])))
      return true;
  }
  return false;
}

TEST(ComingFromPage, AnswersEveryFunctionAndArgument) {
  const auto text = page();
  std::istringstream lines(
      read_text(test::in_source("tests/cli/documents/names_of_other_tools.txt")));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream names(line);
    for (std::string name; names >> name;) EXPECT_TRUE(has_word(text, name)) << name;
  }
}

}  // namespace
}  // namespace ddptrain
