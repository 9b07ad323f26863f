#include "models/segmentation/unet_block.h"

#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pixel_shuffle.h>
#include <ATen/ops/upsample_nearest2d.h>

#include "base/error.h"
#include "models/layers/convolution.h"
#include "models/layers/initialize.h"
#include "models/layers/self_attention.h"
#include "models/vision/xresnet_block.h"

namespace ddptrain {
namespace {

class PixelShuffle final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    const auto layout = input.suggest_memory_format();
    const bool by_torch = input.is_cpu() || layout == at::MemoryFormat::Contiguous;
    if (by_torch && input.size(0) > 0) return at::pixel_shuffle(input, 2);
    return shuffled_with_channels_last(input);
  }

 private:
  /// On other devices torch's operator leaves channels_last, and every layer behind it would copy;
  /// without rows its backward pass gives another shape.
  static at::Tensor shuffled_with_channels_last(const at::Tensor& input) {
    const auto rows = input.size(0), channels = input.size(1) / 4;
    const auto height = input.size(2), width = input.size(3);
    return input.permute({0, 2, 3, 1})
        .reshape({rows, height, width, channels, 2, 2})
        .permute({0, 1, 4, 2, 5, 3})
        .reshape({rows, 2 * height, 2 * width, channels})
        .permute({0, 3, 1, 2});
  }
};

/// torch.nn.ReplicationPad2d((1, 0, 1, 0)), whose backward pass on CUDA has no order.
class PadAboveAndLeft final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    const auto wider = at::cat({input.narrow(3, 0, 1), input}, 3);
    return at::cat({wider.narrow(2, 0, 1), wider}, 2);
  }
};

/// torch.nn.AvgPool2d(2, stride=1).
class MeanOfFour final : public Module {
 public:
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    return at::avg_pool2d(input, 2, 1);
  }
};

const Convolution& convolution_of(const Sequence& layer) {
  const auto* convolution = dynamic_cast<const Convolution*>(layer.children().front());
  DDP_CHECK(convolution != nullptr, "a convolution comes first");
  return *convolution;
}

}  // namespace

void initialize_as_in_a_unet(Module& root, const at::Generator& generator) {
  for (const auto& [path, module] : root.modules())
    if (const auto* convolution = dynamic_cast<Convolution*>(module)) {
      initialize::kaiming_normal(convolution->weight(), initialize::Fan::in, generator);
      initialize::constant(convolution->bias(), 0);
    }
}

std::unique_ptr<Sequence> unet_convolution(std::int64_t in, std::int64_t out, Activation activation,
                                           const at::Generator& generator) {
  auto layer = conv_layer({.in = in, .out = out, .kernel = 3, .norm = ConvLayerShape::Norm::none},
                          activation, generator);
  initialize_as_in_a_unet(*layer, generator);
  return layer;
}

std::unique_ptr<BatchNorm> fastai_norm(std::int64_t channels) {
  auto norm = std::make_unique<BatchNorm>(channels);
  initialize::constant(norm->bias(), 1e-3);
  return norm;
}

std::unique_ptr<Sequence> pixel_shuffle_icnr(const UpsamplingShape& shape,
                                             const at::Generator& generator) {
  auto layer =
      conv_layer({.in = shape.in, .out = 4 * shape.out, .norm = ConvLayerShape::Norm::none},
                 shape.activation, generator);
  const auto& convolution = convolution_of(*layer);
  initialize::alike_in_groups(convolution.weight(), 4, generator);
  initialize::constant(convolution.bias(), 0);
  auto upsampling = std::make_unique<Sequence>();
  upsampling->append(std::move(layer));
  upsampling->add<PixelShuffle>();
  if (shape.blur) {
    upsampling->add<PadAboveAndLeft>();
    upsampling->add<MeanOfFour>();
  }
  return upsampling;
}

at::Tensor resized_to(const at::Tensor& image, const at::Tensor& like) {
  const auto size = like.sizes().slice(2);
  return image.sizes().slice(2) == size ? image : at::upsample_nearest2d(image, size);
}

UnetBlock::UnetBlock(const UnetBlockShape& shape, const at::Generator& generator)
    : activation_(shape.activation) {
  shuf_ = child(
      "shuf",
      pixel_shuffle_icnr(
          {.in = shape.in, .out = shape.in / 2, .blur = shape.blur, .activation = shape.activation},
          generator));
  bn_ = child("bn", fastai_norm(shape.skip));
  conv1_ =
      child("conv1", unet_convolution(shape.inside(), shape.out(), shape.activation, generator));
  auto second = unet_convolution(shape.out(), shape.out(), shape.activation, generator);
  if (shape.self_attention) second->add<SelfAttention>(shape.out(), generator);
  conv2_ = child("conv2", std::move(second));
}

at::Tensor UnetBlock::join(const at::Tensor& below, const at::Tensor& skip, const Pass& pass) {
  const auto enlarged = resized_to(shuf_->forward(below, pass), skip);
  auto both = activate_over(activation_, at::cat({enlarged, bn_->forward(skip, pass)}, 1));
  return conv2_->forward(conv1_->forward(both, pass), pass);
}

at::Tensor UnetBlock::forward(const at::Tensor& input, const Pass&) {
  DDP_CHECK(false, "a block of a U-Net joins two inputs");
  return input;
}

}  // namespace ddptrain
