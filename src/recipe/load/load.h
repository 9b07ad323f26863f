// Steps 1 to 5 of a run: files and overrides to a checked Recipe, every problem at once.
#pragma once

#include <string>
#include <vector>

#include "config/catalog.h"
#include "config/problem.h"
#include "recipe/layers/layers.h"
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

}  // namespace ddptrain
