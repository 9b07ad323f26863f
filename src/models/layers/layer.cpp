#include "models/layers/layer.h"

#include "base/error.h"
#include "models/layers/activation.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/layers/pooling.h"
#include "models/sizes.h"

namespace ddptrain {
namespace {

using Made = std::unique_ptr<Module>;

void require_image(const LayerContext& context, const std::string& layer) {
  if (context.shape.size() != 3)
    throw Error(Exit::recipe, Option{"model.layers"}, "'{}' needs channels, height and width",
                layer);
}

// floor((n + 2 padding - kernel) / stride) + 1 in height and width.
void slide(LayerContext& context, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
           const std::string& layer) {
  require_image(context, layer);
  for (std::size_t axis = 1; axis < 3; ++axis) {
    auto& size = context.shape[axis];
    const auto room = size + 2 * padding - kernel;
    if (room < 0)
      throw Error(Exit::recipe, Option{"model.layers"}, "'{}' of size {} does not fit into {}",
                  layer, kernel, size);
    size = room / stride + 1;
  }
}

struct ConvOptions {
  std::int64_t out = 1, kernel = 3, stride = 1, padding = 0, groups = 1;
  bool bias = true;
  void fields(Fields& f) {
    f("out", out, {.doc = "Channels that it makes.", .min = 1, .required = true, .example = "32"});
    f("kernel", kernel, {.doc = "Height and width of its window.", .min = 1});
    f("stride", stride, {.doc = "Step of the window.", .min = 1});
    f("padding", padding, {.doc = "Zeros around the input.", .min = 0});
    f("groups", groups, {.doc = "Groups of channels that do not mix.", .min = 1});
    f("bias", bias, {.doc = "Add a learned number to each channel."});
    f.require(divides("groups", "out"));
  }
};

Made make_conv(const ConvOptions& o, LayerContext& context) {
  slide(context, o.kernel, o.stride, o.padding, "conv");
  const auto in = std::exchange(context.shape[0], o.out);
  if (in % o.groups != 0)
    throw Error(Exit::recipe, Option{"model.layers"},
                "'groups' of 'conv', {}, does not divide its {} channels", o.groups, in);
  const ConvolutionShape shape{in, o.out, o.kernel, o.stride, o.padding, o.groups, o.bias};
  return std::make_unique<Convolution>(shape, context.model.generator);
}

struct BatchNormLayerOptions {
  BatchNormOptions norm;
  void fields(Fields& f) {
    f("eps", norm.eps, {.doc = "Added to the variance.", .min = 0});
    f("momentum", norm.momentum,
      {.doc = "Weight of a batch in the running statistics; null averages all.",
       .min = 0,
       .max = 1});
    f("affine", norm.affine, {.doc = "Learn a scale and a shift for each channel."});
  }
};

Made make_batch_norm(const BatchNormLayerOptions& o, LayerContext& context) {
  return std::make_unique<BatchNorm>(context.shape.at(0), o.norm);
}

struct ActivationOptions {
  Activation function = Activation::relu;
  void fields(Fields& f) { f("function", function, {.doc = "Which."}); }
};

struct MaxPoolOptions {
  std::int64_t kernel = 2;
  std::optional<std::int64_t> stride;
  std::int64_t padding = 0;
  void fields(Fields& f) {
    f("kernel", kernel, {.doc = "Height and width of its window.", .min = 1});
    f("stride", stride, {.doc = "Step of the window; null: its size.", .min = 1});
    f("padding", padding, {.doc = "Places around the input that never win.", .min = 0});
  }
};

Made make_max_pool(const MaxPoolOptions& o, LayerContext& context) {
  const auto stride = o.stride.value_or(o.kernel);
  slide(context, o.kernel, stride, o.padding, "max_pool");
  return std::make_unique<MaxPool>(PoolWindow{o.kernel, stride, o.padding, false});
}

struct AdaptivePoolOptions {
  std::int64_t size = 1;
  void fields(Fields& f) { f("size", size, {.doc = "Height and width that are left.", .min = 1}); }
};

Made make_adaptive_pool(const AdaptivePoolOptions& o, LayerContext& context) {
  require_image(context, "adaptive_avg_pool");
  context.shape[1] = context.shape[2] = o.size;
  return std::make_unique<AdaptiveAveragePool>(o.size);
}

Made make_flatten(const NoOptions&, LayerContext& context) {
  std::int64_t product = 1;
  for (const auto size : context.shape) product *= size;
  context.shape = {product};
  return std::make_unique<Flatten>();
}

struct LinearOptions {
  Auto<std::int64_t> out;
  void fields(Fields& f) {
    f("out", out, {.doc = "Numbers that it makes; auto takes the data's classes.", .min = 1});
  }
};

Made make_linear(const LinearOptions& o, LayerContext& context) {
  if (context.shape.size() != 1)
    throw Error(Exit::recipe, Option{"model.layers"}, "'linear' needs 'flatten' before it");
  const auto in = std::exchange(context.shape[0], classes_of(o.out, context.model));
  return std::make_unique<Linear>(in, context.shape[0], context.model.generator);
}

struct DropoutOptions {
  double p = 0.5;
  void fields(Fields& f) {
    f("p", p, {.doc = "Probability of dropping each element.", .min = 0, .max = 1});
  }
};

}  // namespace

template <>
const Catalog<Layer>& catalog<Layer>() {
  static const Catalog<Layer> layers({
      entry<Layer, ActivationOptions>("activation", "An element-wise function by name.",
                                      [](const ActivationOptions& o, LayerContext&) -> Made {
                                        return std::make_unique<Activate>(o.function);
                                      }),
      entry<Layer, AdaptivePoolOptions>("adaptive_avg_pool", "Averages to a fixed size.",
                                        make_adaptive_pool, {"varies_on_cuda size!=1"}),
      entry<Layer, BatchNormLayerOptions>("batch_norm", "Batch norm.", make_batch_norm,
                                          {"batch_norm"}),
      entry<Layer, ConvOptions>("conv", "Two-dimensional convolution.", make_conv),
      entry<Layer, DropoutOptions>("dropout", "Drops elements in training.",
                                   [](const DropoutOptions& o, LayerContext&) -> Made {
                                     return std::make_unique<Dropout>(o.p);
                                   }),
      entry<Layer, NoOptions>("flatten", "All numbers of a sample in one row.", make_flatten),
      entry<Layer, NoOptions>(
          "identity", "Nothing: keeps the numbers of other layers in place.",
          [](const NoOptions&, LayerContext&) -> Made { return std::make_unique<Identity>(); }),
      entry<Layer, LinearOptions>("linear", "Linear layer with a bias.", make_linear),
      entry<Layer, MaxPoolOptions>("max_pool", "Maximum over windows.", make_max_pool),
      entry<Layer, NoOptions>("relu", "max(x, 0).",
                              [](const NoOptions&, LayerContext&) -> Made {
                                return std::make_unique<Activate>(Activation::relu);
                              }),
  });
  return layers;
}

}  // namespace ddptrain
