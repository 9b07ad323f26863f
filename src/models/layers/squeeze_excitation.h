// Squeeze-and-excitation (Hu et al. 2018) with the names of torchvision.ops.SqueezeExcitation.
#pragma once

#include "models/layers/activation.h"
#include "models/layers/convolution.h"

namespace ddptrain {

struct SqueezeExcitationShape {
  std::int64_t channels = 0;
  std::int64_t inside = 0;  // channels between `fc1` and `fc2`
  Activation activation = Activation::relu;
  Activation scale = Activation::sigmoid;
};

/// Scales channels by what two 1x1 convolutions make of their means.
class SqueezeExcitation final : public Module {
 public:
  SqueezeExcitation(const SqueezeExcitationShape& shape, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  Activation activation_, scale_;
  Convolution *fc1_, *fc2_;
};

}  // namespace ddptrain
