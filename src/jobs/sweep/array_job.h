// A sweep as a job of a cluster that has a run an element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

struct LaunchPlan;

struct ArrayJob {
  std::string name;                // of the recipe
  std::int64_t runs = 1;           // elements
  std::int64_t at_once = 0;        // 0: as many as the cluster gives
  std::string folder;              // where it runs
  std::vector<std::string> words;  // of the command that sweeps, as typed: program first
};

/// A script for sbatch: one run an element, from 1. Ended by the cluster, a run saves; submitted
/// again, the script goes on.
std::string slurm_script(const ArrayJob& job);

/// An indexed Job of Kubernetes: one run a pod, each with the devices of `run`. A pod that fails or
/// is evicted is started again and resumes its run, unless it would fail again.
std::string indexed_job(const ArrayJob& job, const LaunchPlan& run);

}  // namespace ddptrain
