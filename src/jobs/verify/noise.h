// How far rounding alone takes the numbers of a run, where its precision's bound is too narrow.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "jobs/verify/short_runs.h"

namespace ddptrain {

/// Relative differences of one kind of numbers of a run on one rank, whose steps are made again
/// from the same weights.
struct Noise {
  double shaken = 0;   // with weights that are shaken by a unit in the last place
  double to_fp64 = 0;  // in fp64: a value next to the kink of a ReLU may be on either side of it
};

/// What noise permits two runs to differ by: 8 times what the shaken weights change, which are
/// rounded once where a result is rounded after each of many operations, or twice the distance to
/// fp64, since both runs are rounded.
struct Allowance {
  double bound = 0;
  std::string why;
};
Allowance allowance_of(const Noise& noise);

/// The name of the gradients that one run takes from another (followed_gradients).
inline constexpr const char* kGradients = "gradients";

/// By the names of step_differences() and checkpoint_differences(), and of kGradients. Trains
/// `cut`, which has one device, until step `last`.
std::map<std::string, Noise> measured_noise(ShortRuns& runs, const RunCut& cut, std::int64_t last);

}  // namespace ddptrain
