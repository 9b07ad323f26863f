// Documents against the repository: links lead somewhere, examples are real code.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> documents() {
  std::vector<fs::path> found{test::in_source("src/README.md"), test::in_source("bench/README.md"),
                              test::in_source("tests/golden/README.md")};
  for (const auto& entry : fs::directory_iterator(test::in_source("")))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source("docs")))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
}

/// Those that `make generate` and the records of runs do not write.
std::vector<fs::path> written_by_hand() {
  static const std::set<std::string> generated{"problems.md", "recipes.md", "reference.md"};
  auto found = documents();
  std::erase_if(found,
                [](const fs::path& each) { return generated.contains(each.filename().string()); });
  return found;
}

/// Lines of paragraphs and lists, and an empty one for every other line: code, tables, headings,
/// images, definitions of links.
std::vector<std::string> prose_lines(const std::string& text) {
  static const std::regex other("( {4}| *\\||#|!|<|\\[[^\\]]+\\]: ).*");
  std::vector<std::string> lines;
  bool in_fence = false;
  for (const auto& line : split(text, '\n')) {
    const bool is_fence = line.starts_with("```");
    if (is_fence) in_fence = !in_fence;
    const bool is_prose = !is_fence && !in_fence && !std::regex_match(line, other);
    lines.emplace_back(is_prose ? line : "");
  }
  return lines;
}

std::ptrdiff_t width(const std::string& utf8) {
  return std::ranges::count_if(utf8, [](unsigned char byte) { return (byte & 0xC0U) != 0x80U; });
}

std::vector<std::string> wide_lines(const std::string& text) {
  auto lines = prose_lines(text);
  std::erase_if(lines, [](const std::string& line) { return width(line) <= 100; });
  return lines;
}

/// Words of each sentence; a piece of code is one word.
std::vector<int> sentence_lengths(const std::string& text) {
  std::string all;
  for (const auto& line : prose_lines(text))
    all += (line.empty() || line.starts_with("- ") ? "\n" : " ") + line;
  static const std::regex code("`[^`]*`"), target("\\]\\([^)]*\\)");
  all = std::regex_replace(std::regex_replace(all, code, "code"), target, "");
  std::vector<int> lengths;
  for (const auto& paragraph : split(all, '\n')) {
    std::istringstream words(std::string{paragraph});
    int length = 0;
    for (std::string word; words >> word;) {
      if (word == "-") continue;
      ++length;
      if (!std::regex_match(word, std::regex(".*[.!?][*)]*"))) continue;
      lengths.push_back(length);
      length = 0;
    }
    if (length > 0) lengths.push_back(length);
  }
  return lengths;
}

int median(std::vector<int> numbers) {
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

TEST(Documents, LinkToFilesThatExist) {
  static const std::regex link("\\]\\(([^)#: ]+)(#[^)]*)?\\)");
  int links = 0;
  for (const auto& document : documents()) {
    const auto text = read_text(document);
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      ++links;
      EXPECT_TRUE(fs::exists(document.parent_path() / (*match)[1].str()))
          << document << " links to " << (*match)[1];
    }
  }
  EXPECT_GT(links, 20);
}

TEST(Documents, ContributingShowsTheWholeFileOfItsExample) {
  const auto text = read_text(test::in_source("CONTRIBUTING.md"));
  const auto code = read_text(test::in_source("src/losses/huber.cpp"));
  EXPECT_NE(text.find("```cpp\n" + code + "```\n"), std::string::npos)
      << "copy src/losses/huber.cpp into the example of CONTRIBUTING.md";
}

TEST(Documents, TheArchitectureFitsOnOnePage) {
  std::istringstream words(read_text(test::in_source("docs/architecture.md")));
  const auto count = std::distance(std::istream_iterator<std::string>(words),
                                   std::istream_iterator<std::string>());
  EXPECT_LE(count, 1500);
}

TEST(Documents, WrapTheirProseAt100Columns) {
  const auto files = written_by_hand();
  EXPECT_GT(files.size(), 40U);
  for (const auto& file : files)
    for (const auto& line : wide_lines(read_text(file))) ADD_FAILURE() << file << ": " << line;
}

TEST(WideLines, AreFoundInParagraphsAndLists) {
  const std::string wide(101, 'a');
  EXPECT_EQ(wide_lines("Short.\n\n" + wide + "\n- " + wide + "\n  " + wide + "\n").size(), 3U);
  EXPECT_EQ(wide_lines("```\n" + wide + "\n```\n" + wide).size(), 1U);
}

TEST(WideLines, AreAllowedInCodeTablesHeadingsAndLinks) {
  const std::string wide(101, 'a');
  EXPECT_TRUE(wide_lines("```yaml\n" + wide + "\n```\n").empty());
  EXPECT_TRUE(wide_lines("    " + wide + "\n| " + wide + " |\n# " + wide).empty());
  EXPECT_TRUE(wide_lines("[link]: " + wide).empty());
}

TEST(WideLines, AreCountedInCharacters) {
  std::string letters;
  for (int i = 0; i < 100; ++i) letters += "\u00e9";
  EXPECT_TRUE(wide_lines(letters).empty());
  EXPECT_EQ(wide_lines(letters + "e").size(), 1U);
}

TEST(Documents, ReadmeHasShortSentences) {
  const auto lengths = sentence_lengths(read_text(test::in_source("README.md")));
  ASSERT_GT(lengths.size(), 20U);
  EXPECT_LE(median(lengths), 25);
  EXPECT_LE(std::ranges::max(lengths), 40);
}

TEST(SentenceLengths, CountWordsUpToAFullStop) {
  EXPECT_EQ(sentence_lengths("# Not this.\nOne two\nthree. Is `a b. c` [a link](x.md)? **Yes.**"),
            (std::vector<int>{3, 4, 1}));
  EXPECT_EQ(sentence_lengths("- one two\n- three.\n\n    no code\n| no table |\n"),
            (std::vector<int>{2, 1}));
}

TEST(SentenceLengths, ShowALongSentence) {
  std::string text = "Short.";
  for (int i = 0; i < 41; ++i) text += " word";
  EXPECT_EQ(sentence_lengths(text + "."), (std::vector<int>{1, 41}));
  EXPECT_EQ(median({41, 1, 26}), 26);
}

}  // namespace
}  // namespace ddptrain
