#include "models/layers/convolution.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "models/layers/initialize.h"
#include "models/operators/pointwise_convolution.h"
#include "models/operators/small_convolution.h"

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

at::ScalarType type_of_products(const at::Tensor& input) {
  const auto device = input.device().type();
  return at::autocast::is_autocast_enabled(device) ? at::autocast::get_autocast_dtype(device)
                                                   : input.scalar_type();
}

/// Whether oneDNN would read memory that it has not written, for the gradient of the weight: it
/// does so in bf16 where an image without its padding is narrower than the stride. It multiplies by
/// zero what it finds there, which may be NaN (LibTorch 2.11, processors with AVX-512). Every
/// device pads: such an image is small.
bool must_be_padded(const at::Tensor& input, const ConvolutionShape& shape) {
  return shape.padding > 0 && input.size(-1) < shape.stride &&
         type_of_products(input) == at::kBFloat16;
}

/// Whether matrix products without the padding are faster than oneDNN. By these bounds, measured
/// with 1 and 2 threads and 1 to 64 rows on AVX-512, they are 1.1 to 8 times as fast, in forward
/// and backward pass together.
bool is_small(const at::Tensor& input, const ConvolutionShape& shape) {
  constexpr double padding = 0.18, channels_of_padding = 56;
  if (!input.is_cpu() || input.numel() == 0 || type_of_products(input) != at::kFloat ||
      shape.stride != 1 || shape.dilation != 1 || shape.groups != 1 ||
      shape.padding * 2 + 1 != shape.kernel)
    return false;
  const auto share = share_of_padding(input.size(-2), input.size(-1), shape.kernel);
  return share >= padding &&
         share * static_cast<double>(std::min(shape.in, shape.out)) >= channels_of_padding;
}

/// Whether a matrix product is the faster gradient of the weight: with 2 threads, 32 rows and 256
/// to 2,048 channels it took 0.5 to 0.97 of oneDNN's time on maps of 4 x 4 and 8 x 8 pixels.
bool is_pointwise(const at::Tensor& input, const ConvolutionShape& shape) {
  constexpr std::int64_t pixels = 64;
  return input.is_cpu() && input.numel() > 0 && type_of_products(input) == at::kFloat &&
         shape.kernel == 1 && shape.stride == 1 && shape.padding == 0 && shape.groups == 1 &&
         input.size(-2) * input.size(-1) <= pixels;
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

at::Tensor Convolution::forward(const at::Tensor& input, const Pass& pass) {
  // Scores are those of an exported model, to the last bit: LibTorch's.
  if (pass.training && is_pointwise(input, shape_))
    return pointwise_convolution(input, weight_, bias_);
  if (pass.training && is_small(input, shape_)) return small_convolution(input, weight_, bias_);
  const bool is_padded = must_be_padded(input, shape_);
  const auto image = is_padded ? at::constant_pad_nd(input, std::vector(4, shape_.padding)) : input;
  const auto padding = is_padded ? 0 : shape_.padding;
  return at::conv2d(image, weight_, bias_, {shape_.stride, shape_.stride},
                    at::IntArrayRef{padding, padding}, {shape_.dilation, shape_.dilation},
                    shape_.groups);
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
