// One run of a sweep, as the child process that trains it and as what its folder tells afterwards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/sweep/sweep_record.h"
#include "runs/best_evaluation.h"
#include "train/placement.h"

namespace ddptrain {

struct Arguments;

struct TrialRun {
  std::string folder;  // its run folder, which it makes, or goes on in
  std::vector<std::string> files;
  std::vector<std::string> overrides;
  std::optional<Duration> pause;  // where the rung is; nothing: the run's own end
  MachinePart part;
};

/// Trains, from the newest checkpoint where there is one; returns the exit code. For a process of
/// its own that has not touched LibTorch.
int train_trial(const TrialRun& run, const Arguments& arguments);

/// What the folder of a run tells that ended with `code`.
RunValue value_of(const std::string& folder, int code, const WatchedMetric& watched);

/// The same of a run that nothing is left to train of; nothing for any other.
std::optional<RunValue> ended_value(const std::string& folder, const WatchedMetric& watched);

}  // namespace ddptrain
