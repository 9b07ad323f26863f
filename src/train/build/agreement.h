// Ranks that were started with different recipes.
#pragma once

#include <string>
#include <vector>

#include "distributed/world.h"

namespace ddptrain {

/// Which keys differ between the recipes of the ranks, and how: "optimizer.lr is 0.1 on rank 0, 2
/// and 0.2 on rank 1". Empty where their values are the same.
std::string differing_keys(const std::vector<std::string>& recipes);

/// Every rank must have the same resolved recipe; an Error names the keys that differ.
void agree_on_recipe(World& world, const std::string& recipe);

}  // namespace ddptrain
