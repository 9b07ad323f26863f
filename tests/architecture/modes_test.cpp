// Code asks what a mode of training in parallel has (recipe/mode.h), not which one it is, so that
// another mode changes the engines alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

TEST(Modes, AreNamedByRecipesAndEnginesAlone) {
  namespace fs = std::filesystem;
  const std::regex asks("[=!]= Mode::|Mode::\\w+ [=!]=|\\bMode::(dp|ddp)\\b");
  for (const auto& entry : fs::recursive_directory_iterator(test::in_source("src"))) {
    const auto name = fs::relative(entry.path(), test::in_source("src")).string();
    const bool may = name.starts_with("distributed/") || entry.path().stem() == "mode";
    if (!entry.is_regular_file() || may) continue;
    for (const auto& line : split(read_text(entry.path()), '\n'))
      EXPECT_FALSE(std::regex_search(line, asks)) << "src/" << name << ": " << line;
  }
}

}  // namespace
}  // namespace ddptrain
