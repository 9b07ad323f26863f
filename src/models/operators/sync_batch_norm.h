// Batch norm over the rows of all members: forward and backward are those of one batch norm over
// the concatenated batch, whatever the cut, members without rows included.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/operators/batch_norm.h"
#include "models/operators/sync_statistics.h"

namespace ddptrain {

/// What a member has of the layer.
struct SyncNormTerms {
  at::Tensor weight, bias;  // may be undefined
  double eps = 1e-5;
  NormEnd end;
};

/// Normalizes, scales and shifts, and then what `end` says, which needs an input that has
/// values. Differentiable in input, weight, bias and residual: gradients of weight and bias are
/// this member's share, as of any other parameter. The backward pass makes exactly one all_reduce.
/// `members` must outlive it.
at::Tensor sync_batch_norm(const at::Tensor& input, const SyncNormTerms& terms,
                           const SyncStatistics& statistics, Statistics& members);

}  // namespace ddptrain
