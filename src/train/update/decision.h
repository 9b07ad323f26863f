// What becomes of a step, decided by its device: the host learns it later.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "distributed/window_numbers.h"
#include "optim/loss_scale.h"

namespace ddptrain {

/// Numbers are those of a window on the device. Nothing here waits for it.
class Decision {
 public:
  Decision(at::Device device, const std::optional<LossScale>& loss_scale);

  bool has_loss_scale() const { return scale_.defined(); }
  /// Of the sum of losses: loss_scale / nominal. Undefined without a loss scale.
  at::Tensor loss_gradient(double nominal) const;
  /// What makes the sum of gradients the mean: nominal / (loss_scale * weight), a double.
  at::Tensor factor(const at::Tensor& numbers, double nominal);
  /// One float: 1 where the step must change nothing, since it is not finite, has no counted
  /// sample, or a rank lost data or broke ddp's rules.
  at::Tensor refused(const at::Tensor& numbers) const;
  /// The same where the host gives the next step before it has read this one, and ends the run
  /// where it is not finite: from such a step on all are refused.
  at::Tensor refused_for_good(const at::Tensor& numbers);
  /// The loss scale of the next step, as LossScale::update.
  void update_scale(const at::Tensor& numbers);

 private:
  /// What numbers must lie between, NaN nowhere.
  struct Limits {
    at::Tensor low, high;
  };
  static Limits limits(at::Device device, bool only_finite);
  static at::Tensor outside(const at::Tensor& numbers, const Limits& limits);

  at::Device device_;
  Limits sound_;      // a step that is made
  Limits finite_;     // one after which the loss scale may grow
  at::Tensor ended_;  // 1: a step was refused for good
  LossScaleOptions options_;
  at::Tensor scale_, finite_steps_;  // undefined without a loss scale
  double nominal_ = 0;
  at::Tensor nominal_there_;
};

}  // namespace ddptrain
