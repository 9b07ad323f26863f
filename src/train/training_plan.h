// What is settled of a run before any of it is built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/loader/scored.h"
#include "optim/lr_finder.h"
#include "sources/order/shard.h"
#include "train/placement.h"

namespace ddptrain {

/// What a checkpoint keeps of the data that its model was trained on (train/loop/state.h); nothing
/// at the start of a run.
struct SavedData {
  std::string fitted;                // Dataset::state()
  std::vector<std::string> classes;  // names, in order of the model's outputs
};

/// A run as its recipe describes it, or one of the variants that only look at it.
struct TrainingPlan {
  Recipe recipe;  // resolved
  Placement placement;
  SavedData saved = {};
  Scored scored = Scored::valid;  // eval: which samples stand for the validation split
  bool trains = true;  // false: only scores, without sampler, schedule, optimizer and callbacks
  bool tries_sizes = false;  // threads and micro-batch that the placement leaves to a trial
  std::optional<LrFindOptions> lr_finder = {};  // its rates in place of the recipe's
  std::optional<std::int64_t> most_steps = {};  // ends earlier, on the schedule of the whole run
  std::optional<std::size_t> evaluation_batches = {};  // each rank's at most; none: all
  /// Of a trial on smaller batches: how the run itself cuts an epoch, which its rates follow from.
  std::optional<ShardPlan> shards = {};
};

}  // namespace ddptrain
