// trials.json of a sweep's folder: what came of each of its settings, its writer and its reader.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/named_values.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// A setting and its runs, one for each seed, at the last rung that all of them have reached.
struct SweepTrialResult {
  std::int64_t number = 0;          // from 1
  std::vector<std::string> values;  // as written, in the order of the sweep's keys
  double value = std::numeric_limits<double>::quiet_NaN();      // mean over the seeds; NaN: none
  double deviation = std::numeric_limits<double>::quiet_NaN();  // (n - 1); NaN of one seed
  double best = std::numeric_limits<double>::quiet_NaN();  // mean of each run's best evaluation
  std::int64_t rung = -1;                                  // -1: none
  std::int64_t steps = 0;                                  // of all its runs
  std::string state = "waiting";                           // "done", "stopped", "failed", "waiting"
  std::vector<std::string> runs;                           // folders, relative to the sweep's
  std::string error;                                       // of a run that failed
};

struct SweepResults {
  std::string folder;
  std::string name;    // "shapes/sweep-001": the last two parts of its path
  std::string method;  // "grid", "halving", ...
  std::string metric;
  BestMode mode = BestMode::max;
  std::string weights;  // whose values these are: "best weights", "last weights"
  std::vector<std::string> keys;
  std::vector<double> rungs;             // of a run's length, each
  NamedValues importance;                // of each key, 0 to 1 or NaN
  std::vector<SweepTrialResult> trials;  // best first
};

/// Without its folder and name. A number that is NaN is null.
void write_sweep_results(const SweepResults& sweep, const std::string& folder);

bool is_sweep(const std::string& folder);

/// An Error (Exit::data) where trials.json is missing (the sweep has not ended) or cannot be read.
SweepResults read_sweep_results(const std::string& folder);

}  // namespace ddptrain
