// mobilenet_v3_small, mobilenet_v3_large. MobileNet V3 of torchvision (Howard et al. 2019). Names,
// order and first weights are torchvision's.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "models/blocks.h"
#include "models/layers/activation.h"
#include "models/layers/convolution_norm.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/layers/squeeze_excitation.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/image_options.h"
#include "models/vision/inverted_residual_names.h"
#include "models/vision/pooled_classifier.h"

namespace ddptrain {
namespace {

struct MobileNetV3Plan {
  struct Block {
    std::int64_t in, kernel, inside, out;
    bool squeeze;
    Activation activation;
    std::int64_t stride;
    std::int64_t dilation = 1;
  };
  std::vector<Block> blocks;
  std::int64_t hidden = 0;  // features between the two last layers
};

using Block = MobileNetV3Plan::Block;

constexpr auto hard_swish = Activation::hard_swish;
constexpr double timm_norm_eps = 1e-5;

struct MobileNetV3Options {
  ImageOptions image;
  double width_mult = 1;
  double dropout = 0.2;
  bool dilated = false;
  double norm_eps = 0.001;
  void fields(Fields& f) {
    image.fields(f);
    f("width_mult", width_mult,
      {.doc = "Factor on the channels of every layer.", .min = 0, .above_min = true});
    f("dropout", dropout,
      {.doc = "Probability of dropping each hidden feature before the last layer.",
       .min = 0,
       .max = 1});
    f("dilated", dilated,
      {.doc = "The last stage keeps the size of its features and dilates its convolutions."});
    f("norm_eps", norm_eps,
      {.doc = "Added to the variance by every batch norm; timm's weights are of 1e-5.", .min = 0});
  }
};

/// Where the last block with a stride is.
std::size_t last_stage(const std::vector<Block>& blocks) {
  auto at = blocks.size() - 1;
  while (blocks[at].stride == 1) --at;
  return at;
}

/// The feature at which torchvision's segmentation models look on the way: of the first layer, the
/// blocks with a stride and the last layer the fourth from the end.
std::size_t middle_of(const std::vector<Block>& blocks) {
  std::vector<std::size_t> stages;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].stride > 1) stages.push_back(i + 1);
  return stages.at(stages.size() - 3);
}

/// timm's stages: blocks in a row that give the same channels.
std::vector<std::int64_t> stages_of(const std::vector<Block>& blocks) {
  std::vector<std::int64_t> stages;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i == 0 || blocks[i].out != blocks[i - 1].out) stages.push_back(0);
    ++stages.back();
  }
  return stages;
}

std::vector<Block> with_dilation(std::vector<Block> blocks) {
  for (auto at = last_stage(blocks); at < blocks.size(); ++at) blocks[at].dilation = 2;
  return blocks;
}

std::int64_t widened(std::int64_t channels, double width) {
  return whole_channels(static_cast<double>(channels) * width, 8);
}

Block widened(Block block, double width) {
  for (auto* channels : {&block.in, &block.inside, &block.out})
    *channels = widened(*channels, width);
  return block;
}

class InvertedResidualV3 final : public ObservedBlock {
 public:
  InvertedResidualV3(const Block& shape, const BatchNormOptions& norm,
                     const at::Generator& generator);

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;

  bool adds_input_;
  Sequence* block_;
};

InvertedResidualV3::InvertedResidualV3(const Block& shape, const BatchNormOptions& norm,
                                       const at::Generator& generator)
    : adds_input_(shape.stride == 1 && shape.in == shape.out), block_(make<Sequence>("block")) {
  const ConvolutionNormShape expand{.in = shape.in,
                                    .out = shape.inside,
                                    .kernel = 1,
                                    .norm = norm,
                                    .activation = shape.activation};
  const ConvolutionNormShape depthwise{.in = shape.inside,
                                       .out = shape.inside,
                                       .kernel = shape.kernel,
                                       .stride = shape.dilation > 1 ? 1 : shape.stride,
                                       .groups = shape.inside,
                                       .dilation = shape.dilation,
                                       .norm = norm,
                                       .activation = shape.activation};
  const SqueezeExcitationShape squeeze{
      .channels = shape.inside,
      .inside = whole_channels(static_cast<double>(shape.inside / 4), 8),
      .scale = Activation::hard_sigmoid};
  const ConvolutionNormShape project{.in = shape.inside,
                                     .out = shape.out,
                                     .kernel = 1,
                                     .norm = norm,
                                     .activation = Activation::none};
  if (shape.inside != shape.in) block_->add<ConvolutionNorm>(expand, generator);
  block_->add<ConvolutionNorm>(depthwise, generator);
  if (shape.squeeze) block_->add<SqueezeExcitation>(squeeze, generator);
  block_->add<ConvolutionNorm>(project, generator);
}

at::Tensor InvertedResidualV3::compute(const at::Tensor& input, const Pass& pass) {
  auto x = block_->forward(input, pass);
  return adds_input_ ? x.add_(input) : x;
}

class MobileNetV3 final : public PooledClassifier {
 public:
  MobileNetV3(const MobileNetV3Plan& plan, const MobileNetV3Options& options,
              const ModelContext& context);
  Body take_body() override;
  std::vector<NameTable> name_tables() const override;

 private:
  std::int64_t add_features(const std::vector<Block>& blocks, std::int64_t in, double width,
                            const at::Generator& generator);
  BatchNormOptions norm_;
  std::size_t middle_ = 0;
  std::vector<std::int64_t> stages_;  // blocks of each
};

MobileNetV3::MobileNetV3(const MobileNetV3Plan& plan, const MobileNetV3Options& options,
                         const ModelContext& context)
    : norm_{.eps = options.norm_eps, .momentum = 0.01}, stages_(stages_of(plan.blocks)) {
  const auto& generator = context.generator;
  const auto in = channels_of(options.image.in_channels, context, 3);
  const auto made = add_features(options.dilated ? with_dilation(plan.blocks) : plan.blocks, in,
                                 options.width_mult, generator);
  middle_ = middle_of(plan.blocks);
  const auto hidden = widened(plan.hidden, options.width_mult);
  classifier().add<Linear>(made, hidden, generator);
  classifier().add<Activate>(hard_swish);
  classifier().add<Dropout>(options.dropout);
  classifier().add<Linear>(hidden, classes_of(options.image.num_classes, context), generator);
  initialize_mobile(*this, generator,
                    [&](const at::Tensor& weight) { initialize::normal(weight, 0.01, generator); });
}

Body MobileNetV3::take_body() {
  auto body = take_features();
  body.middle = middle_;
  return body;
}

// timm's mobilenetv3_large_100 and so on.
std::vector<NameTable> MobileNetV3::name_tables() const {
  const auto last = fmt::format("features.{}.", features().steps().size() - 1);
  const auto end = fmt::format("blocks.{}.0.", stages_.size());
  NameTable timm{.library = Library::timm,
                 .places = {{"features.0.0.", "conv_stem."},
                            {"features.0.1.", "bn1."},
                            {last + "0.", end + "conv."},
                            {last + "1.", end + "bn1."},
                            {"classifier.0.", "conv_head.", FormThere::kernel1},
                            {"classifier.3.", "classifier."}},
                 .parts = inverted_residual_parts()};
  add_separable_block(timm.places, "features.1.", "blocks.0.0.");
  add_numbered_blocks(timm.places, "features", 1, "blocks", stages_);
  timm.differs = [eps = norm_.eps](const std::string& architecture) -> std::string {
    if (architecture.starts_with("tf_")) return "it pads images as TensorFlow does";
    if (eps == timm_norm_eps) return {};
    return "its batch norms have an eps of 1e-5; write 'norm_eps: 1e-5' next to the network's type";
  };
  return {{.library = Library::torchvision}, timm};
}

std::int64_t MobileNetV3::add_features(const std::vector<Block>& blocks, std::int64_t in,
                                       double width, const at::Generator& generator) {
  const ConvolutionNormShape stem{.in = in,
                                  .out = widened(blocks.front().in, width),
                                  .stride = 2,
                                  .norm = norm_,
                                  .activation = hard_swish};
  features().add<ConvolutionNorm>(stem, generator);
  for (const auto& block : blocks)
    features().add<InvertedResidualV3>(widened(block, width), norm_, generator);
  const auto channels = widened(blocks.back().out, width);
  const ConvolutionNormShape last{
      .in = channels, .out = 6 * channels, .kernel = 1, .norm = norm_, .activation = hard_swish};
  features().add<ConvolutionNorm>(last, generator);
  return last.out;
}

Entry<Model> mobilenet_v3_entry(std::string name, std::string doc, const MobileNetV3Plan& plan) {
  return entry<Model, MobileNetV3Options>(
      std::move(name), std::move(doc),
      [plan](const MobileNetV3Options& options,
             const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<MobileNetV3>(plan, options, context);
      },
      {"batch_norm", "body", "convolves", "dilates", "dropout", "takes_images"});
}

}  // namespace

Entry<Model> mobilenet_v3_small_model() {
  constexpr auto relu = Activation::relu, swish = Activation::hard_swish;
  return mobilenet_v3_entry("mobilenet_v3_small", "Small MobileNet V3, as in torchvision.",
                            {.blocks = {{16, 3, 16, 16, true, relu, 2},
                                        {16, 3, 72, 24, false, relu, 2},
                                        {24, 3, 88, 24, false, relu, 1},
                                        {24, 5, 96, 40, true, swish, 2},
                                        {40, 5, 240, 40, true, swish, 1},
                                        {40, 5, 240, 40, true, swish, 1},
                                        {40, 5, 120, 48, true, swish, 1},
                                        {48, 5, 144, 48, true, swish, 1},
                                        {48, 5, 288, 96, true, swish, 2},
                                        {96, 5, 576, 96, true, swish, 1},
                                        {96, 5, 576, 96, true, swish, 1}},
                             .hidden = 1024});
}

Entry<Model> mobilenet_v3_large_model() {
  constexpr auto relu = Activation::relu, swish = Activation::hard_swish;
  return mobilenet_v3_entry("mobilenet_v3_large", "Large MobileNet V3, as in torchvision.",
                            {.blocks = {{16, 3, 16, 16, false, relu, 1},
                                        {16, 3, 64, 24, false, relu, 2},
                                        {24, 3, 72, 24, false, relu, 1},
                                        {24, 5, 72, 40, true, relu, 2},
                                        {40, 5, 120, 40, true, relu, 1},
                                        {40, 5, 120, 40, true, relu, 1},
                                        {40, 3, 240, 80, false, swish, 2},
                                        {80, 3, 200, 80, false, swish, 1},
                                        {80, 3, 184, 80, false, swish, 1},
                                        {80, 3, 184, 80, false, swish, 1},
                                        {80, 3, 480, 112, true, swish, 1},
                                        {112, 3, 672, 112, true, swish, 1},
                                        {112, 5, 672, 160, true, swish, 2},
                                        {160, 5, 960, 160, true, swish, 1},
                                        {160, 5, 960, 160, true, swish, 1}},
                             .hidden = 1280});
}

}  // namespace ddptrain
