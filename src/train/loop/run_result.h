// What training came to, as every rank knows it.
#pragma once

#include <optional>
#include <string>

#include "train/step/evaluate.h"

namespace ddptrain {

/// The reason of a run that ended at Hooks::pause_at. Resumed, it is the run without a pause, to
/// the bit: nothing is evaluated, averaged or tested that would not have been.
inline constexpr const char* kPaused = "paused";

struct RunResult {
  std::string reason;  // "done", "stopped by early_stopping: ...", "interrupted", "paused"
  int signal = 0;      // that ended it
  /// Of a complete run the weights that are its result, else those of the last evaluation that it
  /// made; no name: it made none.
  ScoredWeights weights = {};
  Evaluation scored = {};          // by them, of the validation split
  std::optional<Evaluation> test;  // of a complete run, by the same weights
};

}  // namespace ddptrain
