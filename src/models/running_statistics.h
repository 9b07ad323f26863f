// Modules that normalize by a running mean and variance of their inputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace ddptrain {

/// torch's attributes of batch norms; buffers of the module have the same names.
class RunningStatistics {
 public:
  virtual ~RunningStatistics() = default;
  /// What a training batch has of them; null: as much as each batch before it.
  virtual std::optional<double> momentum() const = 0;
  virtual void set_momentum(std::optional<double> momentum) = 0;
  /// Of each channel.
  virtual const at::Tensor& running_mean() const = 0;
  virtual const at::Tensor& running_var() const = 0;
};

}  // namespace ddptrain
