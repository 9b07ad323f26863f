// An epoch of training as steps.
#pragma once

#include <cstdint>
#include <vector>

namespace ddptrain {

struct Position;
struct Training;

/// What each step of an epoch takes.
struct EpochSteps {
  std::vector<std::int64_t> micro_steps;  // batches of this rank
  std::vector<std::int64_t> samples;      // over all ranks
};

/// Starts the loader on the epoch of a position, from the step there on. Streams begin without a
/// state.
EpochSteps start_epoch(Training& training, const Position& at);

}  // namespace ddptrain
