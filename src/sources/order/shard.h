// Which rank gets which samples of an order: layouts are pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "recipe/data_section.h"

namespace ddptrain {

struct ShardPlan {
  Layout layout = Layout::global_batch;
  std::int64_t world = 1;
  std::int64_t global = 1;      // samples per optimizer step
  std::int64_t accumulate = 1;  // micro-steps per optimizer step
  bool drop_last = true;        // leave out incomplete batches: global ones, else each rank's
  bool pad = true;  // the peers' layouts repeat samples until all ranks have equally many; without,
                    // interleaved leaves an incomplete round out (DistributedSampler's drop_last)
                    // and round_robin and split end short (Accelerate without even_batches)
};

/// A recipe's `loader` section for a batch plan and a number of ranks.
struct StepSize {
  std::int64_t global = 1;
  std::int64_t accumulate = 1;
  std::int64_t world = 1;
};
ShardPlan shard_plan(const LoaderSpec& loader, const StepSize& step);

/// Rows first .. first + count - 1 of an epoch's global order do not suffice for every layout, so a
/// micro-batch lists positions in that order. `first_row` is the place of its row 0 in the step's
/// global batch, `length` that of the longest sample there (data/loader/lengths.h).
struct Micro {
  std::vector<std::int64_t> positions;
  std::int64_t first_row = 0;
  std::int64_t pass = 0;  // of held-out samples, from 1: through the training transforms
  std::int64_t length = 0;
};

/// steps[k][a] is micro-step a of optimizer step k for one rank. Every rank has the same number of
/// both; a rank that has run out of rows has empty ones. Throws an Error (Exit::recipe) where a
/// peer's layout needs batches of equal size and `global` does not divide.
using RankPlan = std::vector<std::vector<Micro>>;
RankPlan shard(std::int64_t length, const ShardPlan& plan, std::int64_t rank);

/// How an evaluation is cut, whatever the world: rows 0 .. length-1 in batches of `batch`, every
/// row once.
struct EvaluationCut {
  std::int64_t length = 0;
  std::int64_t batch = 1;
  /// Rows that continue the ones so many places before them, a multiple of `batch`; 0: none do.
  std::int64_t streams = 0;

  /// Batches of which each continues the one so many before it; 0: none does.
  std::int64_t groups() const { return streams / batch; }
  /// The rank that has batch `index`: they are dealt round-robin, those of a group to one rank.
  std::int64_t rank_of(std::int64_t index, std::int64_t world) const {
    return (streams > 0 ? index % groups() : index) % world;
  }
};

/// The micro-batches of a rank; there may be none. `first_row` is the place of row 0 in its
/// streams.
std::vector<Micro> evaluation_batches(const EvaluationCut& cut, std::int64_t rank,
                                      std::int64_t world);

/// How `count` rows are cut into `pieces` contiguous ones whose sizes differ by at most one, larger
/// first: first row of each piece, and `count` at the end.
std::vector<std::int64_t> cut(std::int64_t count, std::int64_t pieces);

}  // namespace ddptrain
