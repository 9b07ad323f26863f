// How long the rows of a batch become, where samples differ in length.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.h"
#include "sources/order/shard.h"

namespace ddptrain {

/// Of the samples of a split, or in an order of them; empty where all are alike.
std::vector<std::int64_t> lengths_of(const Dataset& data, Split split);
std::vector<std::int64_t> lengths_of(const Dataset& data, Split split,
                                     const std::vector<std::int64_t>& order);

/// The samples of a split by falling length, equally long ones in order: batches of an evaluation
/// then hold little padding, and the one that needs most memory comes first. In order where all are
/// alike.
std::vector<std::int64_t> longest_first(const Dataset& data, Split split);

/// The longest sample of each optimizer step over all ranks, given the lengths at an epoch's
/// positions; empty where those are. What a step computes must not depend on how it is cut.
std::vector<std::int64_t> step_lengths(const std::vector<std::int64_t>& lengths,
                                       const ShardPlan& plan);
/// Gives the micro-batches of step k length k.
void set_lengths(RankPlan& steps, const std::vector<std::int64_t>& step_lengths);
/// Gives each micro-batch the length of its longest row.
void set_lengths(std::vector<Micro>& micros, const std::vector<std::int64_t>& lengths);

}  // namespace ddptrain
