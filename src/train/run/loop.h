// Training to trained: batch, loss, gradients, sync, step, callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "launch/signals.h"
#include "train/run/test_split.h"

namespace ddptrain {

struct RunState;
struct Training;

/// What the loop asks of the process around it. Every function may be empty.
struct Hooks {
  std::function<StopRequest()> stop_requested;  // of this rank
  std::function<bool()> save_requested;         // asked once per step; true consumes the request
  std::function<void(std::int64_t, const char*)> beat;  // a sign of life: step and phase
  std::string checkpoints;    // folder of checkpoints; empty: none are written
  std::int64_t pause_at = 0;  // the run pauses, saved, once it has made so many steps; 0: never
  bool evaluate = true;       // false: not even at the end
};

/// The reason of a run that ended at Hooks::pause_at. Resumed, it is the run without a pause, to
/// the bit: nothing is evaluated, averaged or tested that would not have been.
inline constexpr const char* kPaused = "paused";

struct RunResult {
  std::string reason;  // "done", "stopped by early_stopping: ...", "interrupted", "paused"
  int signal = 0;      // that ended it
  std::vector<NamedTable> tables;      // of the last evaluation that it made
  std::vector<SampleOutcome> samples;  // likewise
  std::optional<TestScores> test;      // of a complete run
};

/// Runs from `state` until the recipe's duration, a callback or a signal ends it. All ranks leave
/// at the same step. `observers` are called after the recipe's callbacks, and no checkpoint keeps
/// their state: the writers of logs, on rank 0, and others that are the same on every rank.
RunResult train(const Training& training, RunState& state, const Hooks& hooks,
                const Callbacks& observers = {});

}  // namespace ddptrain
