// Samples that evaluation scores too are written as what differs from `data`.
#pragma once

#include "config/node.h"

namespace ddptrain {

/// Lays what eval.splits and eval.test write over `data`, as a layer over a weaker one: each is a
/// whole section afterwards. Where the data come from (`source`) and how training draws them
/// (`sampler`, `mix`, `loader`) are not taken over. What is no map is left for the check.
void complete_splits(Node& tree);

/// Leaves of each split in `tree`, which has no defaults, what complete_splits() would not take
/// over: options that are other than in `data`, whole. `completed` is the tree with every default.
void shorten_splits(Node& tree, const Node& completed);

}  // namespace ddptrain
