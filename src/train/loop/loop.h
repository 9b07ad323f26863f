// Training to trained: batch, loss, gradients, sync, step, callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "callbacks/callback.h"
#include "launch/signals.h"
#include "train/loop/run_result.h"

namespace ddptrain {

struct NamedTensor;
struct RunState;
class SampleGenerator;
struct Training;

/// What the loop asks of the process around it. Every function may be empty.
struct Hooks {
  std::function<StopRequest()> stop_requested;  // of this rank
  std::function<bool()> save_requested;         // asked once per step; true consumes the request
  std::function<void(std::int64_t, const char*)> beat;  // a sign of life: step and phase
  std::function<void(const std::string&)> in_folder;    // the run's, once all ranks know it
  std::string checkpoints;             // folder of checkpoints; empty: none are written
  std::string local_checkpoints = {};  // of those on the disks of nodes; empty: none are
  std::int64_t pause_at = 0;  // the run pauses, saved, once it has made so many steps; 0: never
  bool evaluate = true;       // false: not even at the end
  /// The parameters with the gradients of a step (from 1) that the optimizer is about to take,
  /// clipped and of all ranks; it may change them. Not called by a step that a graph repeats.
  std::function<void(const std::vector<NamedTensor>& parameters, std::int64_t step)> gradients = {};
  SampleGenerator* samples = nullptr;  // of each evaluation while the run trains; may be null
};

/// Runs from `state` until the recipe's duration, a callback or a signal ends it. All ranks leave
/// at the same step. `observers` are called after the recipe's callbacks, and no checkpoint keeps
/// their state: the writers of logs, on rank 0, and others that are the same on every rank.
RunResult train(Training& training, RunState& state, const Hooks& hooks,
                const Callbacks& observers = {});

}  // namespace ddptrain
