// One rank of a run, from joining the others to its end: steps 9 to 13 of docs/architecture.md.
#pragma once

#include <functional>

#include "train/results/ending.h"
#include "train/run/job.h"
#include "train/run/process.h"

namespace ddptrain {

struct Hooks;

/// What rank 0 does with the end of a run.
using AtEnd = std::function<void(const RunResult&)>;

/// Runs this rank to its end; rank 0 writes the run folder, run.json last, and calls `at_end`. The
/// other ranks return after that: a launcher may kill all ranks at the first exit code. Errors are
/// thrown.
RunResult run_rank(const Job& job, const Topology& topology, const Hooks& hooks,
                   const AtEnd& at_end = {});

}  // namespace ddptrain
