// Refuses batches that are too small for batch norm, from their sizes, before training starts.
#pragma once

#include <cstdint>

#include "sources/order/shard.h"

namespace ddptrain {

struct Training;

/// Who takes batch statistics together: all ranks under sync_bn, else each replica alone.
struct StatisticsCut {
  std::int64_t replicas = 1;  // of a rank (dp)
  bool together = false;      // sync_bn
};

/// The fewest rows, not none, of which batch norm takes statistics in an epoch of `samples`.
std::int64_t fewest_rows(std::int64_t samples, const ShardPlan& plan, const StatisticsCut& cut);

/// An Error (Exit::recipe) that says what to do where an epoch of a built Training, dealt by
/// `plan`, has a batch of one row and a batch norm of the model gets one value per channel from it.
/// Weights, statistics and position stay as they are; no collectives.
void require_rows_for_batch_norm(Training& training, const ShardPlan& plan,
                                 const StatisticsCut& cut);

/// The same for how this run is cut.
void require_rows_for_batch_norm(Training& training);

}  // namespace ddptrain
