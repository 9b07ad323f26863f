// Steps 1 to 5 of a run: files and overrides to a checked Recipe, every problem at once.
#pragma once

#include <string>
#include <vector>

#include "config/catalog.h"
#include "config/problem.h"
#include "config/shape.h"
#include "recipe/layers/layers.h"
#include "recipe/recipe.h"
#include "recipe/targets.h"

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

/// What a recipe leaves to be derived: `loss` and `metrics` become what goes with the targets,
/// where the recipe says `auto`.
void settle_scores(Recipe& recipe, TargetKind targets);

/// The same where the recipe itself determines the targets. Then the sampler of streams of tokens,
/// where none is written or `shuffle` (their documents are shuffled), and `mode: auto` of
/// checkpoint.keep_best and of callbacks, where the metric that they name is known.
void settle(Recipe& recipe, const Node& tree, const Catalogs& catalogs);

/// Paths are relative to the file that wrote them: makes every one of a checked tree absolute;
/// values from the command line are relative to the current folder.
void make_paths_absolute(Node& tree, const Shape& shape, const Catalogs& catalogs);

}  // namespace ddptrain
