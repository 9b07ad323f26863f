#include "models/layers/squeeze_excitation.h"

#include <ATen/ops/adaptive_avg_pool2d.h>

namespace ddptrain {

SqueezeExcitation::SqueezeExcitation(const SqueezeExcitationShape& shape,
                                     const at::Generator& generator)
    : activation_(shape.activation), scale_(shape.scale) {
  const ConvolutionShape squeeze{.in = shape.channels, .out = shape.inside, .bias = true};
  const ConvolutionShape excite{.in = shape.inside, .out = shape.channels, .bias = true};
  fc1_ = make<Convolution>("fc1", squeeze, generator);
  fc2_ = make<Convolution>("fc2", excite, generator);
}

at::Tensor SqueezeExcitation::forward(const at::Tensor& input, const Pass& pass) {
  const auto means = at::adaptive_avg_pool2d(input, {1, 1});
  const auto inside = activate_over(activation_, fc1_->forward(means, pass));
  return activate(scale_, fc2_->forward(inside, pass)).mul(input);
}

}  // namespace ddptrain
