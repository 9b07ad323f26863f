// Averages of the weights over the steps of a run.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/module.h"

namespace ddptrain {

/// torch.optim.swa_utils.AveragedModel with its exponential (ema) or equal (swa) average.
enum class Averaging { ema, swa };

/// What is behind `decay` is that of timm.utils.ModelEmaV3, for `ema`.
struct EmaOptions {
  Averaging type = Averaging::ema;
  double decay = 0.999;
  // What is kept rises as 1 - (1 + update / warmup_gamma)^(-warmup_power) from min_decay to decay.
  bool warmup = false;
  double warmup_gamma = 1;        // above 0
  double warmup_power = 2.0 / 3;  // above 0
  double min_decay = 0;
  std::int64_t update_after_step = 0;  // updates that copy; `update` above counts from there
};

/// The share of the average that update number `update` (from 0) keeps; 0 copies the weights.
double kept_share(const EmaOptions& options, std::int64_t update);

/// Keeps an average of every parameter. Buffers are not averaged: the model's own are right, or are
/// recomputed for the average.
class Ema {
 public:
  Ema(const std::vector<NamedTensor>& parameters, EmaOptions options);
  Ema(const std::vector<NamedTensor>& parameters, double decay)
      : Ema(parameters, EmaOptions{.decay = decay}) {}

  /// After an optimizer step. The first one copies.
  void update();

  /// Whether a graph of the device can repeat update(): every later one keeps the same share.
  bool can_be_captured() const;
  /// Gives the device what update() does, but nothing where `refused` (one float there) is 1, to be
  /// captured. On the host nothing changes.
  void capture(const at::Tensor& refused) const;
  /// A graph has repeated it.
  void was_repeated();

  /// The averages, named as the parameters; live handles.
  const std::vector<NamedTensor>& parameters() const { return averages_; }

  std::int64_t updates() const;

  /// Batch-norm statistics of the averaged weights; empty: the model's own serve. The next update
  /// forgets them.
  void set_buffers(std::vector<NamedTensor> buffers) { buffers_ = std::move(buffers); }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }

  /// The averages, their buffers and "ema_updates", what a checkpoint keeps; live handles.
  std::vector<NamedTensor> state() const;

 private:
  EmaOptions options_;
  std::vector<at::Tensor> live_, means_;  // in the same order
  std::vector<NamedTensor> averages_;
  std::vector<NamedTensor> buffers_;
  at::Tensor updates_;
};

}  // namespace ddptrain
