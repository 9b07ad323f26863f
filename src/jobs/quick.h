// A recipe cut down to a few steps on synthetic data: what `test --quick` runs.
#pragma once

#include <string>

#include "config/node.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// Makes data of the recipe's kind in `folder`, images, a table with the recipe's columns, or
/// texts, and returns the recipe that takes two steps on it: model, transforms, tokenizer, loss,
/// metrics, optimizer and callbacks are the recipe's own; length, batch, schedule, devices, output
/// and what it starts from are not. `tree` is the recipe as layered. Throws an Error (Exit::recipe)
/// for data of a kind that cannot be made.
Node quick_recipe(const Node& tree, const Recipe& recipe, const std::string& folder);

}  // namespace ddptrain
