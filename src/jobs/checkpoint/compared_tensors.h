// Two lists of tensors, name by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/module.h"

namespace ddptrain {

struct ComparedTensor {
  std::string name;
  std::string problem;      // "only in A", shapes or types that differ; empty: both have numbers
  std::int64_t others = 0;  // elements that differ in a bit
  double largest = 0;       // the largest distance of two elements
  double relative = 0;      // that distance by the largest magnitude in A; 0 where that is 0
};

struct ComparedTensors {
  std::int64_t both = 0;              // names that are in A and B
  std::vector<ComparedTensor> apart;  // those that differ, in A's order, then those of B alone
};

/// Bit by bit; distances are those in double. NaN next to a number has a distance of infinity.
ComparedTensors compare_tensors(const std::vector<NamedTensor>& a,
                                const std::vector<NamedTensor>& b);

}  // namespace ddptrain
