// What a steady step asks of CUDA, launch by launch: the one table that a change has to edit
// knowingly. Counts are of the rank that launches most, on the small data of
// scripts/gpu_check/made_data.py; sizes do not matter to most of them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace ddptrain::end_to_end {

struct LaunchBudget {
  std::string recipe, mode;
  int gpus = 1;
  int launches = 0;       // of kernels by the host where steps compute, cuBLAS and cuDNN included
  int graphs = 0;         // launched
  int graph_kernels = 0;  // in those
  int copies = 0;         // to, from and within devices
  int waits = 0;          // of streams for events
  int host_waits = 0;     // of the host: for events, streams and devices
  int collectives = 0;
  int captures = 0;  // of the whole run of 12 steps
  std::vector<std::string> overrides = {};
};

inline void PrintTo(const LaunchBudget& row, std::ostream* out) {
  *out << row.recipe << " " << row.mode << " " << row.gpus;
}

/// The LibTorch whose launches these are: others have kernels of their own.
inline constexpr const char* kCountedWith = "2.11.0";

const std::vector<LaunchBudget>& launch_budgets();

}  // namespace ddptrain::end_to_end
