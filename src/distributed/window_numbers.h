// What the micro-batches of a step sum to: a few doubles, on the device where they were made.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "distributed/engine.h"

namespace ddptrain {

/// Their order in a tensor of doubles, all summed over ranks and replicas. An engine may append
/// others.
enum WindowNumber : std::int64_t {
  kLossSum,
  kWeight,
  kPenalty,   // auxiliary penalties of the model, summed
  kLeftOut,   // bad samples
  kDataLost,  // ranks that could not load theirs
  kAsked,     // ranks with a request
  kMissing,   // ranks that broke ddp's rules on unused parameters
  kOverflow,  // not 0: a gradient is not finite
  kNorm,      // of the gradients' mean before clipping, where it is requested
  kWindowNumbers
};

StepTotals totals_of(const at::Tensor& numbers);

/// What the host counts in a window.
struct HostCounts {
  std::int64_t left_out = 0;
  bool data_lost = false;

  void add(const Batch& batch, const MicroStep& at);
};

/// Numbers of the host on a device, where they are brought only when they have changed, and to the
/// same memory as long as they are as many.
class HostNumbers {
 public:
  const at::Tensor& on(at::Device device, std::vector<double> numbers);
  /// Those of a device and these, in a tensor of their own.
  at::Tensor behind(const at::Tensor& sums, std::vector<double> numbers);

 private:
  std::vector<double> last_;
  at::Tensor tensor_;
};

/// kLeftOut and on, as this rank counted them.
std::vector<double> counted(const HostCounts& counts, bool asked);

/// On the CPU: whether gradients are finite, into kOverflow. An accelerator looks at them when it
/// scales them.
void look_at_gradients(const at::Tensor& numbers, const std::vector<at::Tensor>& gradients);
/// The same of the pieces of all ranks.
void look_at_gradients(const at::Tensor& numbers, const Shards& shards);

}  // namespace ddptrain
