// docs/recipes.md against the recipes: each has a row, and the settings that the row states.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "base/files/files.h"
#include "base/text.h"
#include "config/encode.h"
#include "recipe/load/load.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

struct Row {
  std::string recipe, source;
  std::vector<std::string> overrides;  // behind the recipe's name
  std::vector<std::string> settings;   // "optimizer.lr: 1e-2"
};

std::vector<std::string> codes(const std::string& text) {
  static const std::regex code("`([^`]+)`");
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

std::vector<Row> rows() {
  static const std::regex line("\\| (`[^|]*`) \\| ([^|]*) \\| ([^|]*) \\|.*");
  std::vector<Row> all;
  for (const auto& text : split(read_text(test::in_source("docs/recipes.md")), '\n')) {
    std::smatch match;
    if (!std::regex_match(text, match, line)) continue;
    auto words = split(codes(match[1]).at(0), ' ');
    Row row{words.at(0), match[2], {}, codes(match[3])};
    row.overrides.assign(words.begin() + 1, words.end());
    all.push_back(std::move(row));
  }
  return all;
}

std::string file_of(const Row& row) { return test::in_source("recipes/" + row.recipe + ".yaml"); }

std::string resolved(const Row& row, const std::vector<std::string>& more) {
  auto overrides = row.overrides;
  overrides.insert(overrides.end(), more.begin(), more.end());
  auto loaded = load_recipe({file_of(row)}, overrides, all_catalogs());
  EXPECT_FALSE(has_errors(loaded.problems)) << row.recipe << "\n" << render(loaded.problems);
  return to_yaml(encode(loaded.recipe, &all_catalogs()));
}

// A setting that the recipe has changes nothing where it is written over it.
TEST(RecipesDocument, StatesSettingsThatTheRecipesHave) {
  for (const auto& row : rows()) {
    const auto before = resolved(row, {});
    EXPECT_FALSE(row.settings.empty()) << row.recipe;
    for (const auto& setting : row.settings) {
      const auto colon = setting.find(": ");
      ASSERT_NE(colon, std::string::npos) << setting;
      EXPECT_EQ(resolved(row, {setting.substr(0, colon) + "=" + setting.substr(colon + 2)}), before)
          << row.recipe << " " << join(row.overrides, " ") << " has no " << setting;
    }
  }
}

TEST(RecipesDocument, HasARowForEveryRecipe) {
  std::set<std::string> documented, shipped;
  for (const auto& row : rows()) documented.insert(row.recipe);
  for (const auto& file : std::filesystem::directory_iterator(test::in_source("recipes")))
    if (file.path().extension() == ".yaml") shipped.insert(file.path().stem());
  EXPECT_EQ(documented, shipped);
}

// The first lines of a recipe name the file whose settings it has.
TEST(RecipesDocument, NamesTheSourceThatTheRecipeNames) {
  static const std::regex link("\\[([^\\]]+)\\].*");
  for (const auto& row : rows()) {
    std::smatch match;
    if (!std::regex_match(row.source, match, link) || !row.overrides.empty()) continue;
    EXPECT_NE(read_text(file_of(row)).find(match[1].str()), std::string::npos)
        << row.recipe << " does not name " << match[1];
  }
}

}  // namespace
}  // namespace ddptrain
