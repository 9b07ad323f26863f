#include "models/vision/xresnet_block.h"

#include "base/names.h"
#include "models/layers/convolution.h"
#include "models/layers/initialize.h"
#include "models/layers/norm.h"
#include "models/layers/pooling.h"
#include "models/layers/self_attention.h"

namespace ddptrain {
namespace {

using Norm = ConvLayerShape::Norm;

// fastai's init_linear: draws whose weights init_cnn replaces, kept so that a seed gives fastai's.
void draw_as_init_linear(const Convolution& convolution, Activation activation,
                         const at::Generator& generator) {
  if (convolution.bias().defined()) initialize::normal(convolution.bias(), 0.01, generator);
  switch (activation) {
    case Activation::relu:
    case Activation::leaky_relu:
    case Activation::silu:
    case Activation::swish:
    case Activation::mish:
      return initialize::kaiming_uniform(convolution.weight(), 0, generator);
    case Activation::sigmoid:
    case Activation::tanh:
      return initialize::xavier_uniform(convolution.weight(), generator);
    default:
      return;
  }
}

/// SEModule: scales channels by what two 1x1 convolutions make of their means.
class SqueezeExcite final : public Module {
 public:
  SqueezeExcite(std::int64_t channels, std::int64_t reduction, Activation activation,
                const at::Generator& generator) {
    const auto inside = (channels / reduction + 7) / 8 * 8;
    layers_ = make<Sequence>("layers");
    layers_->add<AdaptiveAveragePool>(1);
    layers_->append(
        conv_layer({.in = channels, .out = inside, .norm = Norm::none}, activation, generator));
    layers_->append(conv_layer({.in = inside, .out = channels, .norm = Norm::none},
                               Activation::sigmoid, generator));
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return input.mul(layers_->forward(input, pass));
  }

 private:
  Sequence* layers_;
};

std::unique_ptr<Module> make_pool(XPool pool, std::int64_t stride) {
  const PoolWindow places{.kernel = stride, .stride = stride, .padding = 0, .ceil = true};
  if (pool == XPool::average) return std::make_unique<AveragePool>(places);
  if (pool == XPool::max) return std::make_unique<MaxPool>(places);
  return std::make_unique<MaxBlurPool>();
}

void add_convolutions(Sequence& path, const XBlockShape& s, const at::Generator& generator) {
  const auto in = s.ni * s.expansion, out = s.nf * s.expansion;
  const auto add = [&](ConvLayerShape shape, Activation activation) {
    if (!s.norms) shape.norm = Norm::none;
    path.append(conv_layer(shape, activation, generator));
  };
  if (s.expansion == 1) {
    add({.in = in, .out = s.nh2, .kernel = 3, .stride = s.stride, .groups = s.groups},
        s.activation);
    add({.in = s.nh2, .out = out, .kernel = 3, .norm = Norm::zero}, Activation::none);
    return;
  }
  add({.in = in, .out = s.nh1}, s.activation);
  add({.in = s.nh1, .out = s.nh2, .kernel = 3, .stride = s.stride, .groups = s.groups},
      s.activation);
  add({.in = s.nh2, .out = out, .norm = Norm::zero}, Activation::none);
}

}  // namespace

std::span<const std::string_view> names(XPool) { return kNameList<"average", "max", "max_blur">; }

std::unique_ptr<Sequence> conv_layer(const ConvLayerShape& shape, Activation activation,
                                     const at::Generator& generator) {
  auto layer = std::make_unique<Sequence>();
  const ConvolutionShape convolution{.in = shape.in,
                                     .out = shape.out,
                                     .kernel = shape.kernel,
                                     .stride = shape.stride,
                                     .padding = (shape.kernel - 1) / 2,
                                     .groups = shape.groups,
                                     .bias = shape.norm == Norm::none};
  draw_as_init_linear(*layer->add<Convolution>(convolution, generator), activation, generator);
  if (shape.norm != Norm::none) {
    const auto* norm = layer->add<BatchNorm>(shape.out);
    initialize::constant(norm->weight(), shape.norm == Norm::zero ? 0 : 1);
  }
  if (activation != Activation::none) layer->add<Activate>(activation, Activate::Input::overwrite);
  return layer;
}

XBlock::XBlock(const XBlockShape& s, const at::Generator& generator) : activation_(s.activation) {
  const auto in = s.ni * s.expansion, out = s.nf * s.expansion;
  convpath_ = make<Sequence>("convpath");
  idpath_ = make<Sequence>("idpath");
  add_convolutions(*convpath_, s, generator);
  if (s.reduction > 0) convpath_->add<SqueezeExcite>(out, s.reduction, s.activation, generator);
  if (s.self_attention) convpath_->add<SimpleSelfAttention>(out, generator);
  if (s.stride != 1) idpath_->append(make_pool(s.pool, s.stride));
  if (in != out) idpath_->append(conv_layer({.in = in, .out = out}, Activation::none, generator));
}

at::Tensor XBlock::compute(const at::Tensor& input, const Pass& pass) {
  const auto shortcut = [&] { return idpath_->forward(input, pass); };
  if (activation_ == Activation::relu) return add_relu_after(*convpath_, input, shortcut, pass);
  auto sum = convpath_->forward(input, pass);
  return activate_over(activation_, sum.add_(shortcut()));
}

}  // namespace ddptrain
