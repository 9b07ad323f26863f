// The settings that a sweep tries: a grid, random draws, or Sobol's sequence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/node.h"
#include "recipe/sweep_section.h"

namespace ddptrain {

/// One option of a sweep. A range of a `whole` one has integers only.
struct SweepAxis {
  std::string key;
  SweepKeySpec spec;
  bool whole = false;
};

/// The value at `u` in [0, 1): of n values each has 1/n of it, of a range each part (of its
/// logarithm where it is logarithmic) as much as it is long. Numbers of a range have six digits.
Node value_at(const SweepAxis& axis, double u);

/// The values of each trial, in the order of the axes. Of a grid the last axis changes fastest. A
/// random draw depends on the seed, the key and the trial's number alone (Philox).
std::vector<std::vector<Node>> settings_of(const SweepSpec& sweep,
                                           const std::vector<SweepAxis>& axes, std::uint64_t seed);

}  // namespace ddptrain
