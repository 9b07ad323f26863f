// torchvision.models.mobilenet_v2: Sandler et al. 2018.
#include <algorithm>

#include "models/blocks.h"
#include "models/layers/convolution_norm.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/image_options.h"
#include "models/vision/pooled_classifier.h"

namespace ddptrain {
namespace {

constexpr auto relu6 = Activation::relu6;

/// Blocks that differ in the stride of the first.
struct MobileNetV2Stage {
  std::int64_t expansion, channels, blocks, stride;
};
constexpr MobileNetV2Stage mobilenet_v2_stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                                    {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                                    {6, 320, 1, 1}};

struct InvertedResidualShape {
  std::int64_t in, out, stride, expansion;
};

class InvertedResidual final : public ObservedBlock {
 public:
  InvertedResidual(const InvertedResidualShape& shape, const at::Generator& generator);

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;

  bool adds_input_;
  Sequence* conv_;
};

InvertedResidual::InvertedResidual(const InvertedResidualShape& shape,
                                   const at::Generator& generator)
    : adds_input_(shape.stride == 1 && shape.in == shape.out), conv_(make<Sequence>("conv")) {
  const auto inside = shape.in * shape.expansion;
  const ConvolutionNormShape expand{
      .in = shape.in, .out = inside, .kernel = 1, .activation = relu6};
  const ConvolutionNormShape depthwise{
      .in = inside, .out = inside, .stride = shape.stride, .groups = inside, .activation = relu6};
  if (shape.expansion != 1) conv_->add<ConvolutionNorm>(expand, generator);
  conv_->add<ConvolutionNorm>(depthwise, generator);
  conv_->add<Convolution>(ConvolutionShape{.in = inside, .out = shape.out}, generator);
  conv_->add<BatchNorm>(shape.out);
}

at::Tensor InvertedResidual::compute(const at::Tensor& input, const Pass& pass) {
  auto x = conv_->forward(input, pass);
  return adds_input_ ? x.add_(input) : x;
}

class MobileNetV2 final : public PooledClassifier {
 public:
  struct Options {
    ImageOptions image;
    double width_mult = 1;
    double dropout = 0.2;
    void fields(Fields& f) {
      image.fields(f);
      f("width_mult", width_mult,
        {.doc = "Factor on the channels of every layer.", .min = 0, .above_min = true});
      f("dropout", dropout,
        {.doc = "Probability of dropping each feature before the last layer.", .min = 0, .max = 1});
    }
  };
  MobileNetV2(const Options& options, const ModelContext& context);
  std::vector<NameTable> name_tables() const override;

 private:
  std::int64_t add_stages(std::int64_t channels, double width, const at::Generator& generator);
};

MobileNetV2::MobileNetV2(const Options& options, const ModelContext& context) {
  const auto& generator = context.generator;
  const auto width = options.width_mult;
  const ConvolutionNormShape stem{.in = channels_of(options.image.in_channels, context, 3),
                                  .out = whole_channels(32 * width, 8),
                                  .stride = 2,
                                  .activation = relu6};
  features().add<ConvolutionNorm>(stem, generator);
  const ConvolutionNormShape last{.in = add_stages(stem.out, width, generator),
                                  .out = whole_channels(1280 * std::max(1.0, width), 8),
                                  .kernel = 1,
                                  .activation = relu6};
  features().add<ConvolutionNorm>(last, generator);
  classifier().add<Dropout>(options.dropout);
  classifier().add<Linear>(last.out, classes_of(options.image.num_classes, context), generator);
  initialize_mobile(*this, generator,
                    [&](const at::Tensor& weight) { initialize::normal(weight, 0.01, generator); });
}

std::int64_t MobileNetV2::add_stages(std::int64_t channels, double width,
                                     const at::Generator& generator) {
  for (const auto& stage : mobilenet_v2_stages) {
    const auto out = whole_channels(static_cast<double>(stage.channels) * width, 8);
    for (std::int64_t i = 0; i < stage.blocks; ++i) {
      const InvertedResidualShape shape{channels, out, i == 0 ? stage.stride : 1, stage.expansion};
      features().add<InvertedResidual>(shape, generator);
      channels = out;
    }
  }
  return channels;
}

// timm's mobilenetv2_100 and its other widths.
std::vector<NameTable> MobileNetV2::name_tables() const {
  NameTable timm{.library = Library::timm,
                 .places = {{"features.0.0.", "conv_stem."},
                            {"features.0.1.", "bn1."},
                            {"features.1.conv.0.0.", "blocks.0.0.conv_dw."},
                            {"features.1.conv.0.1.", "blocks.0.0.bn1."},
                            {"features.1.conv.1.", "blocks.0.0.conv_pw."},
                            {"features.1.conv.2.", "blocks.0.0.bn2."},
                            {"features.18.0.", "conv_head."},
                            {"features.18.1.", "bn2."},
                            {"classifier.1.", "classifier."}},
                 .parts = {{"conv.0.0.", "conv_pw."},
                           {"conv.0.1.", "bn1."},
                           {"conv.1.0.", "conv_dw."},
                           {"conv.1.1.", "bn2."},
                           {"conv.2.", "conv_pwl."},
                           {"conv.3.", "bn3."}}};
  std::vector<std::int64_t> stages;
  for (const auto& stage : mobilenet_v2_stages) stages.push_back(stage.blocks);
  add_numbered_blocks(timm.places, "features", 1, "blocks", stages);
  return {{.library = Library::torchvision}, timm};
}

}  // namespace

Entry<Model> mobilenet_v2_model() {
  return entry_of<Model, MobileNetV2>(
      "mobilenet_v2", "MobileNet V2, as in torchvision.",
      {"batch_norm", "body", "convolves", "dropout", "takes_images"});
}

}  // namespace ddptrain
