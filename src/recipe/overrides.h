// Changes of a recipe from the command line.
#pragma once

#include <string>

#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// Applies one word: `optimizer.lr=0.1` sets (the value is YAML), `~train.clip` removes,
/// `metrics+=[top_k]` appends; `data.transforms.train[0].size=96` and, where items have a type,
/// `...train[normalize].preset=imagenet` go into lists. `number` counts the words of the command
/// line from 1, for places.
void apply_override(Node& tree, const std::string& word, int number, Problems& problems);

}  // namespace ddptrain
