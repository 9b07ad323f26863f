// transformers' Conv1D: a linear layer whose weight has its inputs first.
#pragma once

#include "models/module.h"

namespace ddptrain {

/// Parameters `weight` [in, out] and `bias` [out], not yet drawn; [..., in] to [..., out]
/// (transformers.pytorch_utils.Conv1D). On the CPU a row of the output is the same to the last bit
/// wherever it stands among as many others.
class Conv1d final : public Module {
 public:
  Conv1d(std::int64_t in, std::int64_t out);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  std::vector<at::Tensor> autocast_parameters() const override { return {weight_, bias_}; }
  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }

 private:
  at::Tensor weight_, bias_;
};

}  // namespace ddptrain
