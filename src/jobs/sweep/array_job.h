// A sweep as an array job of Slurm.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

struct ArrayJob {
  std::string name;          // of the recipe
  std::int64_t runs = 1;     // elements, from 1
  std::int64_t at_once = 0;  // 0: as many as the cluster gives
  std::string folder;        // where it runs
  std::string command;       // that sweeps, as typed
};

/// A script for sbatch: one run an element. Ended by the cluster, a run saves; submitted again, the
/// script goes on.
std::string slurm_script(const ArrayJob& job);

}  // namespace ddptrain
