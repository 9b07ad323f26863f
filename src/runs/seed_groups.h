// Runs that differ in their seeds alone: which of them a mean over seeds is of.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runs/run_record.h"

namespace ddptrain {

struct SeedGroup {
  std::vector<std::size_t> runs;   // of each seed the newest run that trained to its end
  std::vector<std::string> seeds;  // theirs: "42", or "42 (data 7)" with a data_seed
  std::vector<std::pair<std::size_t, std::string>> left_out;  // and why: "interrupted"
};

/// Groups of two or more runs. A mean has a deviation where a group has two seeds.
std::vector<SeedGroup> seed_groups(const std::vector<const RunRecord*>& records);

/// "; 2 runs left out: a/002 repeats seed 42, a/004 interrupted"; empty where none is.
std::string left_out_text(const SeedGroup& group, const std::vector<const RunRecord*>& records);

}  // namespace ddptrain
