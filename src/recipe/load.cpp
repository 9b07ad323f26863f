#include "recipe/load.h"

#include <algorithm>

#include "config/decode.h"
#include "config/shape.h"
#include "recipe/address.h"
#include "recipe/paths.h"

namespace ddptrain {
namespace {

bool same_place(const Place& a, const Place& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

/// A value whose reference could not be replaced is reported once.
void add_new(Problems& problems, const Problems& more) {
  const auto known = problems.size();
  for (const auto& problem : more) {
    const bool said = std::any_of(
        problems.begin(), problems.begin() + static_cast<std::ptrdiff_t>(known),
        [&](const Problem& p) { return p.place.known() && same_place(p.place, problem.place); });
    if (!said) problems.push_back(problem);
  }
}

/// Whether layering gave a tree that is worth checking.
bool is_whole(const Problems& problems) {
  return std::all_of(problems.begin(), problems.end(), [](const Problem& p) {
    return p.rule == "reference" || p.rule == "override";
  });
}

}  // namespace

Loaded load_recipe(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                   const Catalogs& catalogs) {
  auto layered = read_layers(files, overrides);
  Loaded loaded;
  loaded.tree = std::move(layered.tree);
  loaded.problems = std::move(layered.problems);
  loaded.sources = std::move(layered.sources);
  loaded.layers = std::move(layered.layers);
  if (!is_whole(loaded.problems)) return loaded;
  const auto shape = shape_of<Recipe>();
  add_new(loaded.problems, check(loaded.tree, shape, catalogs));
  if (has_errors(loaded.problems)) return loaded;
  make_paths_absolute(loaded.tree, shape, catalogs);
  loaded.recipe = decode<Recipe>(loaded.tree);
  add_new(loaded.problems, check_rules(loaded.recipe, loaded.tree, catalogs));
  return loaded;
}

Place place_of(const Node& tree, const std::string& path) {
  const auto address = read_address(path);
  const Node* found = address ? find_at(tree, *address) : nullptr;
  return found ? found->place : Place{};
}

}  // namespace ddptrain
