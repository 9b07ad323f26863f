#include "runs/run_recipe.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

RunOptions sections(const std::vector<NamedTexts>& all) {
  RunOptions options;
  for (const auto& each : all) options.push_back(std::make_shared<const NamedTexts>(each));
  return options;
}

NamedTexts flat(const RunOptions& options) {
  NamedTexts all;
  for (const auto& section : options) all.insert(all.end(), section->begin(), section->end());
  return all;
}

TEST(RunRecipe, IsReadAsOptionsWithTheirWholeNames) {
  RecipeReader reader;
  const auto options = reader.options(
      "name: quick\n# a comment\nmodel:\n  type: mlp\n  layers: [64, 32]\n"
      "  list:\n    - {type: relu}\n    - type: linear\n      out: 3\n"
      "notes: |\n  a text\n\n  of lines\nempty: {}\nnone: null\nlast: [] # auto\n");
  ASSERT_TRUE(options);
  EXPECT_EQ(flat(*options), (NamedTexts{{"name", "quick"},
                                        {"model.type", "mlp"},
                                        {"model.layers[0]", "64"},
                                        {"model.layers[1]", "32"},
                                        {"model.list[0].type", "relu"},
                                        {"model.list[1].type", "linear"},
                                        {"model.list[1].out", "3"},
                                        {"notes", "a text\n\nof lines\n"},
                                        {"empty", "{}"},
                                        {"none", "null"},
                                        {"last", "[]"}}));
}

TEST(RunRecipe, ThatIsNoYamlHasNoOptions) {
  RecipeReader reader;
  EXPECT_FALSE(reader.options("seed: 1\nmodel: {type: [\n"));
  EXPECT_FALSE(reader.options("seed: 1\nmodel: {type: [\n"));  // the second time as well
  EXPECT_TRUE(reader.options(""));
}

TEST(RunRecipe, ShowsNoPasswords) {
  RecipeReader reader;
  const auto options = reader.options("source: https://me:letmein@host/data.tgz\n");
  ASSERT_TRUE(options);
  EXPECT_EQ(flat(*options)[0].second.find("letmein"), std::string::npos)
      << flat(*options)[0].second;
}

TEST(DifferingOptions, AreThoseThatNotAllRunsShare) {
  const auto a = sections({{{"name", "a"}, {"seed", "1"}, {"lr", "0.1"}}, {{"output.dir", "x"}}});
  const auto b = sections({{{"name", "b"}, {"seed", "1"}, {"lr", "0.2"}}, {{"output.dir", "y"}}});
  const auto c = sections({{{"name", "c"}}, {{"seed", "1"}, {"lr", "0.1"}, {"more", "3"}}});
  EXPECT_EQ(differing_options({a, b, c}), (std::vector<std::string>{"lr", "more"}));
  EXPECT_EQ(differing_options({a}), std::vector<std::string>());
  EXPECT_EQ(differing_options({a, a}), std::vector<std::string>());
  EXPECT_EQ(option_value(c, "more"), "3");
  EXPECT_EQ(option_value(a, "more"), "");
}

TEST(DifferingOptions, AreTheSameForRecipesThatShareSections) {
  RecipeReader reader;
  const auto read = [&](const std::string& seed) {
    return *reader.options("seed: " + seed + "\nmodel: {type: mlp}\n");
  };
  const auto one = read("1"), two = read("2");
  EXPECT_EQ(one[1], two[1]);  // one section for both
  EXPECT_EQ(differing_options({one, two}), std::vector<std::string>{"seed"});
}

TEST(GroupsBySeed, HoldRunsThatDifferInNothingElse) {
  const auto one = sections({{{"seed", "1"}}, {{"lr", "0.1"}}}),
             two = sections({{{"seed", "2"}}, {{"lr", "0.1"}}}),
             other = sections({{{"seed", "1"}}, {{"lr", "0.2"}}});
  EXPECT_EQ(groups_by_seed({one, other, two}),
            (std::vector<std::vector<std::size_t>>{{0, 2}, {1}}));
}

}  // namespace
}  // namespace ddptrain
