// What a run records of itself in addition to its results, where it is asked to.
#pragma once

#include <cstdint>
#include <string>

#include "callbacks/callback.h"

namespace ddptrain {

struct Training;

struct Traces {
  std::int64_t profiled_steps = 0;  // `--profile N`; 0: none
  bool memory = false;              // `--trace memory`
};

/// Observers that write trace_rank0.json, memory_rank0.csv and so on into RUN/profile, on every
/// rank. A start that resumes at a step names its files by it: trace_rank0.from-step-740.json.
Callbacks make_traces(const Traces& traces, const Training& training, std::int64_t step,
                      const std::string& run);

}  // namespace ddptrain
