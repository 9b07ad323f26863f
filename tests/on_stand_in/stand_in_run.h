// The program on the stand-in for CUDA (tests/cuda_stand_in), and what that saw.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {

/// The folder of the stand-in's libraries; empty where it was not built.
std::string stand_in_folder();
inline constexpr const char* kNoStandIn =
    "there is no stand-in for CUDA: 'make setup-cuda', then 'make build'";

/// Counts of a process after one of its steps, by the names of tests/cuda_stand_in/core/report.h.
using StandInCounts = std::map<std::string, std::int64_t>;

/// What a run on the stand-in left.
struct StandInRun {
  Ended ended;
  std::string faults;                             // sentences, a line each; empty: none
  std::vector<std::vector<StandInCounts>> steps;  // of each process that made steps
  std::vector<std::string> collectives;  // calls of NCCL in order, of each process that has
  std::string loads;                     // kernels that were first used within a capture
};

/// Where a rank calls another collective than one that it shares a group with: the first such call
/// of both, or empty. NCCL hangs there. Ranks are processes, and every rank of a group is there.
std::string collectives_that_differ(const StandInRun& run);

/// How often so many bytes went to the host.
std::map<std::int64_t, int> sizes_of(const std::vector<StandInCounts>& marks);
/// The median over steps, which leaves out those that evaluate, save or log.
int median(const std::vector<StandInCounts>& steps, const std::string& name);
/// Counts of a process after each of its steps: the first copies of a size with a step's work
/// between them. Evaluations and checkpoints, which are at the end, may have others of this size.
std::vector<StandInCounts> after_steps(const std::vector<StandInCounts>& marks, int count);

/// A process of GPUs in tests: `folder` gets the report.
std::map<std::string, std::string> stand_in_environment(const std::string& folder, int gpus);

/// Runs `executable` with the stand-in before LibTorch's libraries.
StandInRun on_stand_in(const std::vector<std::string>& arguments, int gpus,
                       const std::map<std::string, std::string>& more = {},
                       const std::string& executable = test::program());

}  // namespace ddptrain::end_to_end
