// efficientnet_b0, efficientnet_b1, efficientnet_b2, efficientnet_b3, efficientnet_b4. EfficientNet
// of torchvision (Tan and Le 2019). Names, order and first weights are torchvision's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/blocks.h"
#include "models/layers/convolution_norm.h"
#include "models/layers/dropout.h"
#include "models/layers/squeeze_excitation.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/image_options.h"
#include "models/vision/inverted_residual_names.h"
#include "models/vision/pooled_classifier.h"

namespace ddptrain {
namespace {

struct EfficientNetPlan {
  double width = 1;  // factor on channels
  double depth = 1;  // factor on the blocks of every stage
};

constexpr auto silu = Activation::silu;

/// Blocks of which the first takes `in` channels and the stride.
struct EfficientNetStage {
  std::int64_t expansion, kernel, stride, in, out, blocks;
};
constexpr EfficientNetStage efficientnet_stages[] = {
    {1, 3, 1, 32, 16, 1},  {6, 3, 2, 16, 24, 2},   {6, 5, 2, 24, 40, 2},  {6, 3, 2, 40, 80, 3},
    {6, 5, 1, 80, 112, 3}, {6, 5, 2, 112, 192, 4}, {6, 3, 1, 192, 320, 1}};

struct EfficientNetOptions {
  ImageOptions image;
  double dropout = 0.2;
  double stochastic_depth_prob = 0.2;
  void fields(Fields& f) {
    image.fields(f);
    f("dropout", dropout,
      {.doc = "Probability of dropping each feature before the last layer.", .min = 0, .max = 1});
    f("stochastic_depth_prob", stochastic_depth_prob,
      {.doc = "Probability of skipping a block: it grows evenly from 0 at the first to this after "
              "the last.",
       .min = 0,
       .max = 1});
  }
};

struct EfficientNetB2Options : EfficientNetOptions {
  EfficientNetB2Options() { dropout = 0.3; }
};

struct EfficientNetB4Options : EfficientNetOptions {
  EfficientNetB4Options() { dropout = 0.4; }
};

struct MBConvShape {
  std::int64_t in, out, expansion, kernel, stride;
  double skipped;  // probability
};

/// Inverted residual with squeeze-and-excitation.
class MBConv final : public ObservedBlock {
 public:
  MBConv(const MBConvShape& shape, const at::Generator& generator);

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;

  bool adds_input_;
  Sequence* block_;
  StochasticDepth* stochastic_depth_;
};

MBConv::MBConv(const MBConvShape& shape, const at::Generator& generator)
    : adds_input_(shape.stride == 1 && shape.in == shape.out), block_(make<Sequence>("block")) {
  const auto inside = whole_channels(static_cast<double>(shape.in * shape.expansion), 8);
  const ConvolutionNormShape expand{.in = shape.in, .out = inside, .kernel = 1, .activation = silu};
  const ConvolutionNormShape depthwise{.in = inside,
                                       .out = inside,
                                       .kernel = shape.kernel,
                                       .stride = shape.stride,
                                       .groups = inside,
                                       .activation = silu};
  const SqueezeExcitationShape squeeze{
      .channels = inside, .inside = std::max<std::int64_t>(1, shape.in / 4), .activation = silu};
  const ConvolutionNormShape project{
      .in = inside, .out = shape.out, .kernel = 1, .activation = Activation::none};
  if (inside != shape.in) block_->add<ConvolutionNorm>(expand, generator);
  block_->add<ConvolutionNorm>(depthwise, generator);
  block_->add<SqueezeExcitation>(squeeze, generator);
  block_->add<ConvolutionNorm>(project, generator);
  stochastic_depth_ = make<StochasticDepth>("stochastic_depth", shape.skipped);
}

at::Tensor MBConv::compute(const at::Tensor& input, const Pass& pass) {
  const auto x = block_->forward(input, pass);
  return adds_input_ ? stochastic_depth_->forward(x, pass).add_(input) : x;
}

class EfficientNet final : public PooledClassifier {
 public:
  EfficientNet(const EfficientNetPlan& plan, const EfficientNetOptions& options,
               const ModelContext& context);
  std::vector<NameTable> name_tables() const override;

 private:
  std::vector<MBConvShape> shapes(const EfficientNetStage& stage) const;
  void add_stages(double stochastic_depth_prob, const at::Generator& generator);
  std::int64_t widened(std::int64_t channels) const {
    return whole_channels(static_cast<double>(channels) * plan_.width, 8);
  }

  EfficientNetPlan plan_;
};

// U(-1 / sqrt(out), 1 / sqrt(out)).
void draw_classifier(const at::Tensor& weight, const at::Generator& generator) {
  initialize::uniform(weight, 1 / std::sqrt(static_cast<double>(weight.size(0))), generator);
}

EfficientNet::EfficientNet(const EfficientNetPlan& plan, const EfficientNetOptions& options,
                           const ModelContext& context)
    : plan_(plan) {
  const auto& generator = context.generator;
  const ConvolutionNormShape stem{.in = channels_of(options.image.in_channels, context, 3),
                                  .out = widened(std::begin(efficientnet_stages)->in),
                                  .stride = 2,
                                  .activation = silu};
  features().add<ConvolutionNorm>(stem, generator);
  add_stages(options.stochastic_depth_prob, generator);
  const auto channels = widened(std::rbegin(efficientnet_stages)->out);
  const ConvolutionNormShape last{
      .in = channels, .out = 4 * channels, .kernel = 1, .activation = silu};
  features().add<ConvolutionNorm>(last, generator);
  classifier().add<Dropout>(options.dropout);
  classifier().add<Linear>(last.out, classes_of(options.image.num_classes, context), generator);
  initialize_mobile(*this, generator,
                    [&](const at::Tensor& weight) { draw_classifier(weight, generator); });
}

std::vector<MBConvShape> EfficientNet::shapes(const EfficientNetStage& stage) const {
  const auto blocks = std::ceil(static_cast<double>(stage.blocks) * plan_.depth);
  const auto out = widened(stage.out);
  std::vector<MBConvShape> all(static_cast<std::size_t>(blocks),
                               {out, out, stage.expansion, stage.kernel, 1, 0});
  all.front().in = widened(stage.in);
  all.front().stride = stage.stride;
  return all;
}

void EfficientNet::add_stages(double stochastic_depth_prob, const at::Generator& generator) {
  std::size_t total = 0, before = 0;
  for (const auto& stage : efficientnet_stages) total += shapes(stage).size();
  for (const auto& stage : efficientnet_stages) {
    auto* chain = features().add<Sequence>();
    for (auto shape : shapes(stage)) {
      shape.skipped =
          stochastic_depth_prob * static_cast<double>(before++) / static_cast<double>(total);
      chain->add<MBConv>(shape, generator);
    }
  }
}

// timm's efficientnet_b0 and so on; those that begin with "tf_" pad as TensorFlow does.
std::vector<NameTable> EfficientNet::name_tables() const {
  NameTable timm{.library = Library::timm,
                 .places = {{"features.0.0.", "conv_stem."},
                            {"features.0.1.", "bn1."},
                            {"features.8.0.", "conv_head."},
                            {"features.8.1.", "bn2."},
                            {"classifier.1.", "classifier."}},
                 .parts = inverted_residual_parts(),
                 .differs = [](const std::string& architecture) -> std::string {
                   if (!architecture.starts_with("tf_")) return {};
                   return "it pads images as TensorFlow does";
                 }};
  add_separable_block(timm.places, "features.1.*.", "blocks.0.*.");
  for (int stage = 2; stage < 8; ++stage)
    timm.places.push_back(
        {fmt::format("features.{}.*.", stage), fmt::format("blocks.{}.*.", stage - 1)});
  return {{.library = Library::torchvision}, timm};
}

template <class Options>
Entry<Model> efficientnet_entry(std::string name, std::string doc, const EfficientNetPlan& plan) {
  return entry<Model, Options>(
      std::move(name), std::move(doc),
      [plan](const Options& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<EfficientNet>(plan, options, context);
      },
      {"batch_norm", "body", "convolves", "dropout", "takes_images"});
}

}  // namespace

Entry<Model> efficientnet_b0_model() {
  return efficientnet_entry<EfficientNetOptions>("efficientnet_b0",
                                                 "EfficientNet B0, as in torchvision.", {});
}

Entry<Model> efficientnet_b1_model() {
  return efficientnet_entry<EfficientNetOptions>(
      "efficientnet_b1", "EfficientNet B1, as in torchvision.", {.width = 1, .depth = 1.1});
}

Entry<Model> efficientnet_b2_model() {
  return efficientnet_entry<EfficientNetB2Options>(
      "efficientnet_b2", "EfficientNet B2, as in torchvision.", {.width = 1.1, .depth = 1.2});
}

Entry<Model> efficientnet_b3_model() {
  return efficientnet_entry<EfficientNetB2Options>(
      "efficientnet_b3", "EfficientNet B3, as in torchvision.", {.width = 1.2, .depth = 1.4});
}

Entry<Model> efficientnet_b4_model() {
  return efficientnet_entry<EfficientNetB4Options>(
      "efficientnet_b4", "EfficientNet B4, as in torchvision.", {.width = 1.4, .depth = 1.8});
}

}  // namespace ddptrain
