// Steps 1 to 5 of a run: files and overrides to a checked Recipe, every problem at once.
#pragma once

#include <string>
#include <vector>

#include "config/catalog.h"
#include "config/problem.h"
#include "recipe/layers.h"
#include "recipe/recipe.h"

namespace ddptrain {

struct Loaded {
  Recipe recipe;  // only to be used when there are no errors
  Node tree;  // after layering, places kept; relative paths made absolute to the file that wrote
              // them
  Problems problems;  // errors and warnings
  std::vector<Source> sources;
};

Loaded load_recipe(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                   const Catalogs& catalogs);

/// Rules between parts (recipe/rules.cpp): each a small named function that reads values and
/// traits.
Problems check_rules(const Recipe& recipe, const Node& tree, const Catalogs& catalogs);

/// The batch arithmetic of a checked recipe for a number of devices: no problem or one.
Problems check_batch(const Recipe& recipe, const Node& tree, std::int64_t devices);

/// The place of a dotted option ("optimizer.lr") in the layered tree: for errors met while
/// building. Unknown when a default was used.
Place place_of(const Node& tree, const std::string& path);

}  // namespace ddptrain
