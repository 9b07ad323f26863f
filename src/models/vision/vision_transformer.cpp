// vit, vit_b_16. The vision transformers of torchvision (Dosovitskiy et al. 2021). Names, order and
// first weights are torchvision's.
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "base/error.h"
#include "models/layers/activation.h"
#include "models/layers/convolution.h"
#include "models/layers/initialise.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/image_options.h"
#include "models/vision/vision_encoder.h"

namespace ddptrain {
namespace {

/// What tells one architecture from another; at first those of ViT-B/16.
struct VisionTransformerPlan {
  std::int64_t patch_size = 16;
  std::int64_t num_layers = 12;
  std::int64_t num_heads = 12;
  std::int64_t hidden_dim = 768;
  std::int64_t mlp_dim = 3072;
  void fields(Fields& f) {
    f("patch_size", patch_size, {.doc = "Height and width of a patch.", .min = 1});
    f("num_layers", num_layers, {.doc = "Blocks of the encoder.", .min = 1});
    f("num_heads", num_heads, {.doc = "Heads of the attention.", .min = 1});
    f("hidden_dim", hidden_dim, {.doc = "Numbers that stand for a patch.", .min = 1});
    f("mlp_dim", mlp_dim, {.doc = "Hidden numbers of a block's two-layer network.", .min = 1});
    f.require(divides("num_heads", "hidden_dim"));
  }
};

struct VisionTransformerOptions {
  ImageOptions image;
  Auto<std::int64_t> image_size;
  double dropout = 0;
  double attention_dropout = 0;
  std::optional<std::int64_t> representation_size;
  void fields(Fields& f) {
    image.fields(f);
    f("image_size", image_size,
      {.doc = "Height and width of the images; auto takes the data's, or 224.", .min = 1});
    f("dropout", dropout,
      {.doc = "Probability of dropping each element of embedding and blocks.", .min = 0, .max = 1});
    f("attention_dropout", attention_dropout,
      {.doc = "Probability of dropping each attention weight.", .min = 0, .max = 1});
    f("representation_size", representation_size,
      {.doc = "Size of a linear layer with tanh before the last; null leaves it out.", .min = 1});
  }
};

std::string by(std::int64_t height, std::int64_t width) {
  return std::to_string(height) + " x " + std::to_string(width);
}

std::int64_t image_size_of(const Auto<std::int64_t>& written, const ModelContext& context) {
  if (!written.automatic()) return *written.value;
  if (context.data.sample.size() != 3) return 224;
  const auto height = context.data.sample[1], width = context.data.sample[2];
  if (height == width) return height;
  throw Error(
      Exit::recipe, Option{"model.image_size"},
      "images must be square, the data's are " + by(height, width) + "; resize or crop them");
}

void require_whole(const VisionTransformerPlan& plan, std::int64_t image_size) {
  if (image_size % plan.patch_size != 0)
    throw Error(Exit::recipe, Option{"model.image_size"},
                "images of " + by(image_size, image_size) + " cannot be cut into patches of " +
                    by(plan.patch_size, plan.patch_size));
}

// trunc_normal_ by the numbers that flow into an output, and no bias.
void initialise_by_fan(const at::Tensor& weight, const at::Tensor& bias,
                       const at::Generator& generator) {
  const auto fan = static_cast<double>(initialise::fan_in(weight));
  initialise::truncated_normal(weight, std::sqrt(1 / fan), generator);
  initialise::constant(bias, 0);
}

class VisionTransformer final : public Model {
 public:
  VisionTransformer(const VisionTransformerPlan& plan, const VisionTransformerOptions& options,
                    const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  void add_encoder(const VisionTransformerPlan& plan, const VisionTransformerOptions& options,
                   const at::Generator& generator);
  void add_heads(std::int64_t features, const std::optional<std::int64_t>& representation,
                 std::int64_t classes, const at::Generator& generator);
  at::Tensor patches(const at::Tensor& images, const Pass& pass);

  std::int64_t image_size_;
  at::Tensor class_token_;
  Convolution* conv_proj_ = nullptr;
  VisionEncoder* encoder_ = nullptr;
  Sequence* heads_ = nullptr;
};

VisionTransformer::VisionTransformer(const VisionTransformerPlan& plan,
                                     const VisionTransformerOptions& options,
                                     const ModelContext& context)
    : image_size_(image_size_of(options.image_size, context)) {
  require_whole(plan, image_size_);
  const ConvolutionShape patch{.in = channels_of(options.image.in_channels, context, 3),
                               .out = plan.hidden_dim,
                               .kernel = plan.patch_size,
                               .stride = plan.patch_size,
                               .bias = true};
  class_token_ = parameter("class_token", at::zeros({1, 1, plan.hidden_dim}));
  conv_proj_ = make<Convolution>("conv_proj", patch, context.generator);
  add_encoder(plan, options, context.generator);
  add_heads(plan.hidden_dim, options.representation_size,
            classes_of(options.image.num_classes, context), context.generator);
}

void VisionTransformer::add_encoder(const VisionTransformerPlan& plan,
                                    const VisionTransformerOptions& options,
                                    const at::Generator& generator) {
  const auto side = image_size_ / plan.patch_size;
  const VisionEncoderShape shape{.places = side * side + 1,
                                 .layers = plan.num_layers,
                                 .heads = plan.num_heads,
                                 .features = plan.hidden_dim,
                                 .hidden = plan.mlp_dim,
                                 .dropout = options.dropout,
                                 .attention_dropout = options.attention_dropout};
  encoder_ = make<VisionEncoder>("encoder", shape, generator);
}

// torchvision draws the last weights of the patches after the heads are made.
void VisionTransformer::add_heads(std::int64_t features,
                                  const std::optional<std::int64_t>& representation,
                                  std::int64_t classes, const at::Generator& generator) {
  heads_ = make<Sequence>("heads");
  const Linear* pre_logits = nullptr;
  if (representation) {
    auto linear = std::make_unique<Linear>(features, *representation, generator);
    pre_logits = linear.get();
    heads_->append("pre_logits", std::move(linear));
    heads_->append("act", std::make_unique<Activate>(Activation::tanh));
  }
  auto head = std::make_unique<Linear>(representation.value_or(features), classes, generator);
  initialise_by_fan(conv_proj_->weight(), conv_proj_->bias(), generator);
  if (pre_logits) initialise_by_fan(pre_logits->weight(), pre_logits->bias(), generator);
  initialise::constant(head->weight(), 0);
  initialise::constant(head->bias(), 0);
  heads_->append("head", std::move(head));
}

// [rows, patches, features], row by row of an image.
at::Tensor VisionTransformer::patches(const at::Tensor& images, const Pass& pass) {
  if (images.size(2) != image_size_ || images.size(3) != image_size_)
    throw Error(Exit::recipe, Option{"model.image_size"},
                "the network takes images of " + by(image_size_, image_size_) + ", not of " +
                    by(images.size(2), images.size(3)));
  return conv_proj_->forward(images, pass).flatten(2).transpose(1, 2);
}

at::Tensor VisionTransformer::forward(const at::Tensor& input, const Pass& pass) {
  const auto token = class_token_.expand({input.size(0), -1, -1});
  const auto x = encoder_->forward(at::cat({token, patches(input, pass)}, 1), pass);
  return heads_->forward(x.select(1, 0), pass);
}

std::unique_ptr<Model> make_vision_transformer(const VisionTransformerPlan& plan,
                                               const VisionTransformerOptions& options,
                                               const ModelContext& context) {
  return std::make_unique<VisionTransformer>(plan, options, context);
}

struct VitOptions {
  VisionTransformerOptions common;
  VisionTransformerPlan plan;
  void fields(Fields& f) {
    common.fields(f);
    plan.fields(f);
    f.require(divides("patch_size", "image_size"));
  }
};

struct VitB16Options {
  VisionTransformerOptions common;
  void fields(Fields& f) {
    common.fields(f);
    f.require(always(multiple_of("image_size", 16)));
  }
};

}  // namespace

Entry<Model> vit_model() {
  return entry<Model, VitOptions>("vit", "Vision transformer of any size, as in torchvision.",
                                  [](const VitOptions& options, const ModelContext& context) {
                                    return make_vision_transformer(options.plan, options.common,
                                                                   context);
                                  },
                                  {"dropout", "takes_images"});
}

Entry<Model> vit_b_16_model() {
  return entry<Model, VitB16Options>(
      "vit_b_16", "Vision transformer with 12 layers on patches of 16 x 16, as in torchvision.",
      [](const VitB16Options& options, const ModelContext& context) {
        return make_vision_transformer({}, options.common, context);
      },
      {"dropout", "takes_images"});
}

}  // namespace ddptrain
