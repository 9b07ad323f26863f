// A run whose optimizer takes the gradients of another run, step by step: both have the same
// weights before every step, so that rounding cannot add up between them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ddptrain {

struct NamedTensor;

/// As Hooks::gradients (train/loop/loop.h).
using GradientHook = std::function<void(const std::vector<NamedTensor>&, std::int64_t)>;

/// `shaken`: before each step but the first every second weight becomes the next larger number and
/// the others the next smaller one, as a rounding error might have it; what changes by it is noise.
enum class FollowersWeights { plain, shaken };

/// Writes the gradients of each step into the run's folder.
GradientHook keep_gradients(const std::string& folder);

/// Puts those that the run in `kept` wrote in the place of this run's own, and notes in its folder
/// how far its own were from them. A step that is not finite keeps its own.
GradientHook follow_gradients(const std::string& folder, const std::string& kept,
                              FollowersWeights weights = FollowersWeights::plain);

/// A tensor some of whose gradients are rounding errors: from one run to the other they change by
/// more than a tenth of what they are.
struct NoisyTensor {
  std::string name;
  std::int64_t noisy = 0;    // numbers of it, at the step where they are most
  std::int64_t nonzero = 0;  // out of these
};

/// What follow_gradients noted.
struct FollowedGradients {
  double largest = 0;     // distance of a step's gradients over their length, both Euclidean
  std::int64_t step = 0;  // where it is
  std::vector<NoisyTensor> noisy;
};
FollowedGradients followed_gradients(const std::string& folder);

}  // namespace ddptrain
