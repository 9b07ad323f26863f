// trials.json of a sweep's folder: what came of each of its settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/named_values.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// A setting and its runs, one for each seed.
struct SweepTrialResult {
  std::int64_t number = 0;          // from 1
  std::vector<std::string> values;  // as written, in the order of the sweep's keys
  double value = 0;                 // mean over the seeds at the last rung; NaN: none yet
  double deviation = 0;             // NaN of one seed
  double best = 0;                  // mean of each run's best evaluation
  std::int64_t steps = 0;
  std::string state;              // "done", "stopped", "failed", "waiting"
  std::vector<std::string> runs;  // folders, relative to the sweep's
};

struct SweepResults {
  std::string folder;
  std::string name;    // "shapes/sweep-001": the last two parts of its path
  std::string method;  // "grid", "halving", ...
  std::string metric;
  BestMode mode = BestMode::max;
  std::string weights;  // whose values these are: "best weights", "last weights"
  std::vector<std::string> keys;
  NamedValues importance;                // of each key, 0 to 1 or NaN
  std::vector<SweepTrialResult> trials;  // best first
};

bool is_sweep(const std::string& folder);

/// An Error (Exit::data) where trials.json is missing (the sweep has not ended) or cannot be read.
SweepResults read_sweep_results(const std::string& folder);

}  // namespace ddptrain
