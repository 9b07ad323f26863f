// Statistics of a batch whose rows several members have: what each sends, and what all become.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "models/pass.h"

namespace ddptrain {

/// What synchronized batch norm normalizes by, per channel of all rows. The type is the input's,
/// but single precision for halves.
struct SyncStatistics {
  at::Tensor mean, variance;  // biased
  at::Tensor inverse;         // 1 / sqrt(variance + eps)
  at::Tensor count;           // values per channel, [1], int32
};

/// What a batch norm has apart from weight and bias.
struct RunningTerms {
  at::Tensor mean, variance;       // running, moved unless there are no values at all
  at::Tensor batches;              // how many batches moved them
  std::optional<double> momentum;  // null: the cumulative average
  double eps = 1e-5;
};

/// Of each member: means, sums of squared distances from them, and the values per channel; doubles,
/// [members, 2 * channels + 1] in rank order. Exactly one all_gather; no gradients. On CUDA two
/// kernels (ddptrain::channel_statistics).
at::Tensor gather_statistics(const at::Tensor& input, Statistics& members);

/// Values per channel of all members, a double without dimensions.
at::Tensor values_of(const at::Tensor& gathered);

/// Joined in rank order; members without rows count for nothing. On CUDA one kernel
/// (ddptrain::join_statistics). Nothing waits for a device.
SyncStatistics join_statistics(const at::Tensor& gathered, const at::Tensor& input,
                               const RunningTerms& terms);

}  // namespace ddptrain
