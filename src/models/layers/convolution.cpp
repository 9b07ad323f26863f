#include "models/layers/convolution.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include "base/error.h"
#include "models/layers/initialize.h"

namespace ddptrain {
namespace {

// Between the sizes of a whole network, where no single option is wrong.
void require_groups(const ConvolutionShape& shape) {
  if (shape.in >= shape.groups && shape.in % shape.groups == 0 && shape.out >= shape.groups &&
      shape.out % shape.groups == 0)
    return;
  throw Error(
      Exit::recipe,
      "a convolution of {} channels to {} in {} groups cannot be made: their number divides both",
      shape.in, shape.out, shape.groups);
}

}  // namespace

Convolution::Convolution(const ConvolutionShape& shape, const at::Generator& generator)
    : shape_(shape) {
  require_groups(shape);
  weight_ = parameter("weight",
                      at::empty({shape.out, shape.in / shape.groups, shape.kernel, shape.kernel}));
  if (shape.bias) bias_ = parameter("bias", at::empty({shape.out}));
  initialize::layer_default(weight_, bias_, generator);
}

at::Tensor Convolution::forward(const at::Tensor& input, const Pass&) {
  return at::conv2d(input, weight_, bias_, {shape_.stride, shape_.stride},
                    at::IntArrayRef{shape_.padding, shape_.padding},
                    {shape_.dilation, shape_.dilation}, shape_.groups);
}

Linear::Linear(std::int64_t in, std::int64_t out, const at::Generator& generator, LinearBias bias)
    : weight_(parameter("weight", at::empty({out, in}))) {
  if (bias == LinearBias::learned) bias_ = parameter("bias", at::empty({out}));
  initialize::layer_default(weight_, bias_, generator);
}

at::Tensor Linear::forward(const at::Tensor& input, const Pass&) {
  return at::linear(input, weight_, bias_);
}

}  // namespace ddptrain
