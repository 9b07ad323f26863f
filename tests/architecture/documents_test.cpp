// Documents against the repository: links lead somewhere, examples are real code.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> documents() {
  std::vector<fs::path> found{test::in_source("src/README.md")};
  for (const auto& entry : fs::directory_iterator(test::in_source("")))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source("docs")))
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  return found;
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

}  // namespace
}  // namespace ddptrain
