// Ranks that were started with different recipes.
#pragma once

#include <string>
#include <vector>

#include "distributed/control/versions.h"
#include "distributed/world.h"

namespace ddptrain {

/// Which keys differ between the first recipe and the others, and how: "optimizer.lr is 0.1 on rank
/// 0, 2 and 0.2 on rank 1". Empty where their values are the same.
std::string differing_keys(const std::vector<Version>& recipes);

/// Every rank must have the same resolved recipe; an Error names the keys that differ.
void agree_on_recipe(World& world, const std::string& recipe);

}  // namespace ddptrain
