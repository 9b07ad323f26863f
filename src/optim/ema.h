// Averages of the weights over the steps of a run.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/module.h"

namespace ddptrain {

/// torch.optim.swa_utils.AveragedModel with its exponential (ema) or equal (swa) average, or
/// timm.utils.ModelEmaV3 (timm_ema).
enum class Averaging { ema, swa, timm_ema };
std::span<const std::string_view> names(Averaging);

struct EmaOptions {
  Averaging type = Averaging::ema;
  double decay = 0.999;
  bool warmup = false;  // timm_ema: decay rises from 0 as 1 - (1 + update)^(-2/3)
};

/// The share of the average that update number `update` (from 0) keeps; 0 copies the weights.
double kept_share(const EmaOptions& options, std::int64_t update);

/// Keeps averages of parameters and the latest copy of buffers. Nothing is swapped: evaluation
/// reads averages() through a model of its own.
class Ema {
 public:
  Ema(EmaOptions options, const std::vector<NamedTensor>& parameters,
      const std::vector<NamedTensor>& buffers);

  /// After an optimiser step.
  void update();

  /// Parameters, then buffers, with the names given; live handles.
  const std::vector<NamedTensor>& averages() const { return averages_; }

  /// The averages and "ema_updates"; `load` refuses what does not fit.
  std::vector<NamedTensor> state() const;
  void load(const std::vector<NamedTensor>& state);

 private:
  EmaOptions options_;
  std::vector<at::Tensor> parameters_, buffers_;      // the model's
  std::vector<at::Tensor> mean_parameters_, copies_;  // ours, same order
  std::vector<NamedTensor> averages_;
  at::Tensor updates_;
};

}  // namespace ddptrain
