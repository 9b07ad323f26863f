#include "train/build/agreement.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "config/yaml/reader.h"
#include "distributed/group.h"
#include "recipe/layers/changes.h"

namespace ddptrain {
namespace {

constexpr std::size_t kKeysShown = 3;

std::string or_nothing(const std::string& value) { return value.empty() ? "not set" : value; }

}  // namespace

std::string differing_keys(const std::vector<std::string>& recipes) {
  const auto first = read_yaml(recipes.at(0), "rank 0").tree;
  std::map<std::string, std::string> ranks;  // by recipe
  for (std::size_t rank = 0; rank < recipes.size(); ++rank) {
    auto& same = ranks[recipes[rank]];
    same += (same.empty() ? "" : ", ") + std::to_string(rank);
  }
  std::vector<std::string> texts;
  for (const auto& [recipe, who] : ranks) {
    if (recipe == recipes[0]) continue;
    for (const auto& change : changes(first, read_yaml(recipe, "rank").tree))
      texts.push_back(change.path + " is " + or_nothing(change.before) + " on rank " +
                      ranks[recipes[0]] + " and " + or_nothing(change.after) + " on rank " + who);
  }
  const auto more = texts.size() > kKeysShown ? texts.size() - kKeysShown : 0;
  if (more > 0) texts.resize(kKeysShown);
  return join(texts, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
}

void agree_on_recipe(World& world, const std::string& recipe) {
  const auto keys = differing_keys(gather_text(*world.control, recipe));
  if (!keys.empty())
    throw Error(Exit::device, "the ranks do not agree on the recipe: " + keys +
                                  "; start every rank with the same files and options");
  agree(world, "the recipe", recipe);
}

}  // namespace ddptrain
