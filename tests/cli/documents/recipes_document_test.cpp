// docs/recipes.md is made from the recipes and the records of runs: DDPTRAIN_REWRITE=1 writes it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>

#include "base/files/files.h"
#include "base/text.h"
#include "cli/documents/recipes_page.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using test::recipe_rows;
using test::records_of;

TEST(RecipesDocument, IsMadeFromTheRecipesAndTheRecordsOfRuns) {
  const auto page = test::recipes_page();
  const auto file = test::in_source("docs/recipes.md");
  if (std::getenv("DDPTRAIN_REWRITE")) write_atomically(file, page);
  EXPECT_TRUE(read_text(file) == page) << "out of date; DDPTRAIN_REWRITE=1 rewrites it";
}

TEST(RecipesDocument, HasARowForEveryRecipe) {
  std::set<std::string> documented, shipped;
  for (const auto& row : recipe_rows()) documented.insert(row.recipe);
  for (const auto& file : std::filesystem::directory_iterator(test::in_source("recipes")))
    if (file.path().extension() == ".yaml") shipped.insert(file.path().stem());
  EXPECT_EQ(documented, shipped);
}

// The first lines of a recipe name the file whose settings it has.
TEST(RecipesDocument, NamesTheSourceThatTheRecipeNames) {
  static const std::regex link("\\[([^\\]]+)\\].*");
  for (const auto& row : recipe_rows()) {
    std::smatch match;
    if (!std::regex_match(row.source, match, link)) continue;
    EXPECT_NE(read_text(row.file()).find(match[1].str()), std::string::npos)
        << row.recipe << " does not name " << match[1];
  }
}

// A result is of the recipe as it is now: what was recorded, laid over it, changes nothing.
TEST(RecipesDocument, HasResultsOfTheRecipesAsTheyAre) {
  for (const auto& row : recipe_rows()) {
    const auto now = row.resolved();
    for (const auto& record : records_of(row)) {
      EXPECT_TRUE(record["last"].contains(row.metric)) << row.recipe << ": " << record;
      if (record.value("peer", false)) continue;
      EXPECT_EQ(record["settings"].size(), row.settings.size()) << row.recipe << ": " << record;
      for (const auto& [key, value] : record["settings"].items())
        EXPECT_EQ(row.resolved({key + "=" + value.get<std::string>()}), now)
            << row.recipe << " was run with " << key << ": " << value << "; run it again";
    }
  }
}

// No seed counts twice, and no record is of a row that there is not.
TEST(RecipesDocument, CountsEachRunOnce) {
  std::size_t counted = 0, recorded = 0;
  for (const auto& row : recipe_rows()) {
    std::set<std::pair<bool, int>> seeds;
    for (const auto& record : records_of(row)) {
      ++counted;
      EXPECT_TRUE(seeds.emplace(record.value("peer", false), record["seed"].get<int>()).second)
          << row.recipe << ": " << record;
    }
  }
  for (const auto& file : std::filesystem::directory_iterator(test::in_source("bench/records")))
    for (const auto& line : split(read_text(file.path()), '\n')) recorded += !line.empty();
  EXPECT_EQ(counted, recorded) << "a record of no row of bench/recipes.yaml";
}

}  // namespace
}  // namespace ddptrain
