// The table of other tools' keys: every hint names what exists, and every key gets its hint.
#include "config/check/hints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "cli/paths.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

/// What is no option of a component or recipe, but has its place in the language.
bool is_of_the_language(std::string_view key) { return key == "type" || key == "extends"; }

TEST(Hints, AreMany) {
  std::set<std::string_view> theirs;
  for (const auto& key : foreign_keys())
    EXPECT_TRUE(theirs.insert(key.theirs).second) << key.theirs << " is there twice";
  EXPECT_GE(theirs.size(), 120u);
}

TEST(Hints, NameKeysThatExist) {
  for (const auto& key : foreign_keys()) {
    EXPECT_FALSE(key.tools.empty()) << key.theirs;
    EXPECT_TRUE(is_of_the_language(key.ours) || !test::shapes_of(key.ours).empty())
        << key.theirs << " -> " << key.ours;
    static const std::regex path("'([a-z_]+\\.[a-z_.]+)'");
    const std::string says(key.says);
    for (std::sregex_iterator match(says.begin(), says.end(), path), end; match != end; ++match)
      EXPECT_TRUE((*match)[1].str().ends_with(".pth") ||
                  !test::shapes_of((*match)[1].str()).empty())
          << key.theirs << says;
  }
}

TEST(Hints, GiveExamplesThatAreLegal) {
  static const std::regex example("as in '([^']+)'");
  int examples = 0;
  for (const auto& key : foreign_keys()) {
    std::smatch match;
    const std::string says(key.says);
    if (is_of_the_language(key.ours) || !std::regex_search(says, match, example)) continue;
    const auto value = read_value(match[1].str(), {"example", 1, 1, 1}).tree;
    const auto shapes = test::shapes_of(key.ours);
    EXPECT_TRUE(std::any_of(
        shapes.begin(), shapes.end(),
        [&](const Shape& shape) { return check(value, shape, all_catalogs()).empty(); }))
        << key.theirs << " -> " << key.ours << says;
    ++examples;
  }
  EXPECT_GT(examples, 50);
}

TEST(Hints, AreGivenForEveryForeignKey) {
  const std::string good = "model: resnet18\ndata: {type: image_folder, root: pictures}\n";
  for (const auto& key : foreign_keys()) {
    const auto steps = split(key.theirs, '.');
    std::string recipe = good, closing;
    for (const auto& step : steps) {
      const bool last = &step == &steps.back();
      recipe += step + (last ? ": 1" : ": {");
      if (!last && step == "optimizer") recipe += "type: sgd, ";
      if (!last && step == "scheduler") recipe += "type: cosine, ";
      if (!last) closing += "}";
    }
    const auto read = read_yaml(recipe + closing + "\n", "a.yaml");
    ASSERT_TRUE(read.problems.empty()) << recipe << closing << render(read.problems);
    const auto problems = check(read.tree, shape_of<Recipe>(), all_catalogs());
    const auto hint = "; here it is '" + std::string(key.ours) + "'" + std::string(key.says);
    EXPECT_TRUE(std::any_of(problems.begin(), problems.end(),
                            [&](const Problem& p) {
                              return p.rule == "foreign-key" && p.message.ends_with(hint) &&
                                     p.message.starts_with("'" + steps.back() + "' is not");
                            }))
        << key.theirs << ", " << hint << "\n"
        << render(problems);
  }
}

TEST(Hints, OurOwnKeysAreNotForeign) {
  const auto root = shape_of<Recipe>();
  for (const auto& child : root.children) EXPECT_EQ(foreign_key_hint(child.key), "") << child.key;
}

}  // namespace
}  // namespace ddptrain
