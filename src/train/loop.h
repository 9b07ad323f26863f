// Training to trained: batch, loss, gradients, sync, step, callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "launch/signals.h"
#include "train/training.h"

namespace ddptrain {

/// What the loop asks of the process around it. Every function may be empty.
struct Hooks {
  std::function<StopRequest()> stop_requested;  // of this rank
  std::function<bool()> save_requested;         // asked once per step; true consumes the request
  std::function<void(std::int64_t, const char*)> beat;  // a sign of life: step and phase
  std::string checkpoints;  // folder of checkpoints; empty: none are written
  bool evaluate = true;     // false: not even at the end
};

struct RunResult {
  std::string reason;  // "done", "stopped by early_stopping: ...", "interrupted"
  int signal = 0;      // that ended it
};

/// Runs until the recipe's duration, a callback or a signal ends it. All ranks leave at the same
/// step.
RunResult train(Training& training, const Hooks& hooks);

}  // namespace ddptrain
