// What the command line changes in a recipe.
#pragma once

#include <string>

#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// Applies "key=value", "key+=value" or "~key" to the tree. `place` is the word's.
void apply_override(Node& tree, const std::string& text, const Place& place, Problems& problems);

}  // namespace ddptrain
