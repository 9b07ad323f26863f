// A convolution, batch norm and an activation numbered in a chain: Conv2dNormActivation of
// torchvision.ops.
#pragma once

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/norm.h"

namespace ddptrain {

/// Padded so that stride 1 keeps the size.
struct ConvolutionNormShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  std::int64_t dilation = 1;
  BatchNormOptions norm = {};
  Activation activation = Activation::relu;  // none: the chain ends in batch norm
};

class ConvolutionNorm final : public Sequence {
 public:
  ConvolutionNorm(const ConvolutionNormShape& shape, const at::Generator& generator);
};

/// First weights of torchvision's mobile networks: all convolutions below the root normal by fan
/// out, their biases 0; then all linear layers by `draw_weight`, their biases 0.
void initialize_mobile(Module& root, const at::Generator& generator,
                       const std::function<void(const at::Tensor& weight)>& draw_weight);

}  // namespace ddptrain
