// Blocks of YAML in README.md and docs/: each is good over a recipe for its kind of data.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "base/files/files.h"
#include "base/text.h"
#include "config/yaml/reader.h"
#include "recipe/load/load.h"
#include "support/temporary_folder.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

struct YamlBlock {
  std::string where;  // "docs/data.md:24"
  std::string text;
};

/// coming_from_test.cpp tries those of docs/coming-from.md; those of validating-recipes-in-ci.md
/// are other programs'.
std::vector<YamlBlock> yaml_blocks() {
  std::vector<YamlBlock> blocks;
  for (const std::string page : {"README.md", "docs/data.md", "docs/models.md", "docs/sweeps.md",
                                 "docs/training.md", "docs/weights.md"}) {
    bool inside = false;
    int number = 0;
    for (const auto& line : split(read_text(test::in_source(page)), '\n')) {
      ++number;
      if (inside && line != "```") blocks.back().text += line + "\n";
      if (line == "```yaml") blocks.push_back({page + ":" + std::to_string(number), ""});
      inside = line == "```yaml" || (inside && line != "```");
    }
  }
  return blocks;
}

std::string type_in(const Node& tree, const char* section) {
  const auto* map = tree.find(section);
  const auto* type = map && map->is_map() ? map->find("type") : nullptr;
  return type ? type->text : "";
}

/// A recipe of the repository that reads such data.
std::string base_of(const YamlBlock& block) {
  static const std::map<std::string, std::string> bases{
      {"image_masks", "recipes/camvid-tiny.yaml"},
      {"csv_table", "recipes/houses.yaml"},
      {"ratings", "recipes/movielens.yaml"},
      {"text_folder", "recipes/imdb-bag.yaml"},
      {"awd_lstm", "recipes/imdb.yaml"},
      {"tabular", "recipes/houses.yaml"},
      {"awd_lstm_lm", "recipes/ulmfit-imdb-lm.yaml"}};
  const auto tree = read_yaml(block.text, block.where).tree;
  const auto* model = tree.find("model");
  const auto word = model && model->is_scalar() ? model->text : type_in(tree, "model");
  for (const auto& type : {word, type_in(tree, "data")})
    if (const auto found = bases.find(type); found != bases.end())
      return test::in_source(found->second);
  return test::in_source("tests/support/good_recipe.yaml");
}

TEST(YamlBlocks, OfTheDocumentsAreGoodRecipes) {
  const auto blocks = yaml_blocks();
  EXPECT_GE(blocks.size(), 15u);
  const TemporaryFolder folder;
  for (const auto& block : blocks) {
    if (block.text.starts_with("# Ten mistakes")) continue;  // the text test of the recipe has it
    static const std::regex sibling("\\.\\./recipes");
    folder.write("block.yaml", std::regex_replace(block.text, sibling, test::in_source("recipes")));
    // A sweep by halving needs epochs to halve.
    const auto longer = block.text.find("halving") == std::string::npos
                            ? std::vector<std::string>{}
                            : std::vector<std::string>{"train.duration=9 epochs"};
    auto problems =
        load_recipe({base_of(block), folder / "block.yaml"}, longer, all_catalogs()).problems;
    std::erase_if(problems, [](const Problem& each) { return each.rule == "dropped-option"; });
    EXPECT_EQ(render(problems), "") << block.where << "\n" << block.text;
  }
}

}  // namespace
}  // namespace ddptrain
