// Batch norm and layer norm.
#pragma once

#include <optional>

#include "base/error.h"
#include "models/module.h"
#include "models/operators/batch_norm.h"
#include "models/operators/residual_norm.h"
#include "models/running_statistics.h"

namespace ddptrain {

/// Thrown by a forward pass of training that has one value per channel, which has no variance.
struct TooFewValues final : Error {
  using Error::Error;
};

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // null: the cumulative average
  bool affine = true;
};

/// torch.nn.BatchNorm1d, 2d and 3d in one: [rows, channels] or [rows, channels, ...]. Parameters
/// `weight` and `bias`, buffers `running_mean`, `running_var`, `num_batches_tracked`.
/// In training it normalizes by the statistics of the batch: of this replica alone, or of all
/// members when the Pass brings Statistics (sync_bn). A batch of 0 rows leaves the buffers alone.
class BatchNorm final : public Module, public RunningStatistics {
 public:
  explicit BatchNorm(std::int64_t channels, const BatchNormOptions& options = {});
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  /// relu(forward(input, pass) + residual), on an accelerator by one operator (batch_norm.h);
  /// an undefined residual is none.
  at::Tensor forward_relu(const at::Tensor& input, const at::Tensor& residual, const Pass& pass);
  bool is_norm() const override { return true; }
  void keep_statistics(bool keep) override { keeps_statistics_ = keep; }
  std::optional<double> momentum() const override { return options_.momentum; }
  void set_momentum(std::optional<double> momentum) override { options_.momentum = momentum; }
  const at::Tensor& running_mean() const override { return running_mean_; }
  const at::Tensor& running_var() const override { return running_var_; }
  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }
  /// Whether a pass normalizes by the statistics of this replica's batch.
  bool uses_own_batch(const Pass& pass) const {
    return pass.training && !keeps_statistics_ && pass.statistics == nullptr;
  }
  /// Counts a batch of the host's memory, which what returns normalizes.
  NormTerms count_batch();

 private:
  at::Tensor forward_to(const NormEnd& end, const at::Tensor& input, const Pass& pass);
  at::Tensor forward_alone(const NormEnd& end, const at::Tensor& input, bool training);
  at::Tensor forward_averaging(const NormEnd& end, const at::Tensor& input);
  /// By the running statistics, or the batch's with which it moves them.
  NormTerms running_terms(bool training, double momentum) const;
  at::Tensor forward_together(const NormEnd& end, const at::Tensor& input, Statistics& members);

  BatchNormOptions options_;
  at::Tensor weight_, bias_;
  at::Tensor running_mean_, running_var_, batches_;
  bool keeps_statistics_ = false;
};

/// torch.nn.LayerNorm over the last axis: parameters `weight` and `bias`; [rows, ..., features] to
/// the same.
class LayerNorm final : public Module {
 public:
  explicit LayerNorm(std::int64_t features, double eps = 1e-5);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  /// input + branch and its norm, for products alone (operators/residual_norm.h).
  ResidualNorm of_sum(const at::Tensor& input, const at::Tensor& branch) const;
  bool is_norm() const override { return true; }

 private:
  at::Tensor weight_, bias_;
  double eps_;
};

}  // namespace ddptrain
