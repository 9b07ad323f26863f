// Trains the trials of a sweep, some at once, each in a process of its own.
#pragma once

#include <string>
#include <vector>

#include "jobs/sweep/sweep_table.h"

namespace ddptrain {

struct Arguments;

/// Words from which the recipe of each trial is loaded.
struct SweepWords {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
};

/// Trains what is missing of a sweep, and records it. The first SIGTERM, SIGINT or SIGHUP has every
/// trial save and leave, a second SIGINT ends them at once; when this process dies, so do they.
/// Returns 0, the worst exit code of a trial, or 128 + n after signal n. To be called before this
/// process has a second thread or has touched LibTorch.
int run_sweep(const SweepPlan& plan, const SweepWords& words, SweepRecord& record,
              const Arguments& arguments);

/// Trains one run alone, on the whole machine, in this process: the element of an array job. Leaves
/// the record alone; run_sweep() finds the run.
int run_alone(const SweepPlan& plan, const RunKey& key, const SweepWords& words,
              const SweepRecord& record, const Arguments& arguments);

}  // namespace ddptrain
