#include "train/build/agreement.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "config/yaml/reader.h"
#include "distributed/control/rank_list.h"
#include "recipe/layers/changes.h"

namespace ddptrain {
namespace {

constexpr std::size_t kKeysShown = 3;

std::string or_nothing(const std::string& value) { return value.empty() ? "not set" : value; }

}  // namespace

std::string differing_keys(const std::vector<Version>& recipes) {
  const auto& first = recipes.at(0);
  const auto tree = read_yaml(first.text, "rank 0").tree;
  std::vector<std::string> texts;
  for (std::size_t i = 1; i < recipes.size(); ++i)
    for (const auto& change : changes(tree, read_yaml(recipes[i].text, "rank").tree))
      texts.push_back(fmt::format("{} is {} on rank {} and {} on rank {}", change.path,
                                  or_nothing(change.before), rank_list(first.ranks),
                                  or_nothing(change.after), rank_list(recipes[i].ranks)));
  const auto more = texts.size() > kKeysShown ? texts.size() - kKeysShown : 0;
  if (more > 0) texts.resize(kKeysShown);
  return join(texts, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
}

void agree_on_recipe(World& world, const std::string& recipe) {
  if (all_equal(*world.control, recipe)) return;
  const auto keys = differing_keys(versions_of(*world.control, recipe));
  if (!keys.empty())
    throw Error(Exit::device,
                "the ranks do not agree on the recipe: {}; start every rank with the same files "
                "and options",
                keys);
  agree(world, "the recipe", recipe);
}

}  // namespace ddptrain
