// What the command line changes in a recipe.
#pragma once

#include <string>
#include <vector>

#include "config/node.h"
#include "config/problem.h"
#include "recipe/layers/merge.h"

namespace ddptrain {

/// Applies "key=value", "key+=value" or "~key" to the tree. `place` is the word's. `dropped` is
/// what earlier words and layers dropped; to remove such an option settles it.
void apply_override(Node& tree, const std::string& text, const Place& place, Problems& problems,
                    std::vector<Dropped>& dropped);

}  // namespace ddptrain
