// How far two short runs are apart, and where first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

/// Of one kind of numbers: losses, weights, ...
struct Difference {
  std::string what;
  double largest = 0;   // relative to the size of these numbers in the reference run
  bool beyond = false;  // more than was allowed
  std::string first;    // where that is so first: "step 2", "'fc.weight'"; empty: nowhere
};
using Differences = std::vector<Difference>;

/// Losses and gradient norms of the steps that both runs made, which must be at least one; in
/// `allowed` 0 their last bits count. Relative to the reference's value at the same step.
Differences step_differences(const std::string& reference, const std::string& other,
                             double allowed);

/// The newest checkpoints of two runs: weights, buffers, the optimizer's state, averaged
/// weights. The distance of a kind is that of all its tensors together, next to their length, both
/// Euclidean: as tests/distributed/compare.h measures gradients. The first tensor in the model's
/// order that has more than its share is named. Where 0 is allowed, bits are compared, those of
/// the position and state as well. Computed in a child process.
Differences checkpoint_differences(const std::string& reference, const std::string& other,
                                   double allowed);

/// Scores of two evaluations, and the cells of their tables, which must be equal to the last bit.
Differences score_differences(const std::string& reference, const std::string& other);

/// What of a run's model changes in each forward pass of training, so that the number of passes
/// counts. Looked up in a child process.
struct BuffersOfPasses {
  bool statistics = false;  // of batch norm
  bool iterations = false;  // of spectral norm
};
BuffersOfPasses buffers_of_passes(const std::string& folder);

/// What checkpoint_differences calls them.
inline constexpr const char* kBuffers = "buffers";

}  // namespace ddptrain
