// What an evaluation knows of single samples, for a person to look at.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "distributed/async_host_copy.h"
#include "losses/loss.h"
#include "runs/samples_json.h"

namespace ddptrain {

/// Batch after batch, on the way to the host while a device computes the next one. Outputs that
/// are neither one class nor one number a row leave nothing. Of more than 50,000 samples every
/// second, third, ... is kept, the same on any number of ranks.
class SampleRecord {
 public:
  SampleRecord(const OutputActivation& activation, std::int64_t samples);
  /// output [rows, ...] and target [rows, ...] of one device, the loss' terms of the same rows, and
  /// the sample of each row.
  void add(const at::Tensor& output, const at::Tensor& target, const LossTerms& loss,
           const std::vector<std::int64_t>& indices);
  /// All that was added, for all_outcomes(): double [n, 6] on the host.
  at::Tensor drain();

 private:
  OutputActivation activation_;
  std::int64_t stride_;
  std::vector<AsyncHostCopy> rows_;  // double [n, 5]
  std::vector<std::int64_t> indices_;
};

/// The records of all ranks, in order of the samples.
std::vector<SampleOutcome> all_outcomes(const std::vector<at::Tensor>& records);

}  // namespace ddptrain
