// regnet_x_400mf, regnet_y_400mf. RegNet of torchvision (Radosavovic et al. 2020), X without and Y
// with squeeze-and-excitation. Names, order and first weights are torchvision's.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>

#include "models/blocks.h"
#include "models/layers/convolution_norm.h"
#include "models/layers/initialize.h"
#include "models/layers/squeeze_excitation.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/image_options.h"

namespace ddptrain {
namespace {

struct RegNetPlan {
  std::array<std::int64_t, 4> blocks;  // of each stage
  std::array<std::int64_t, 4> channels;
  std::int64_t group_width = 1;
  bool squeeze = false;  // to a quarter of a block's input channels
};

constexpr std::int64_t stem_channels = 32;

struct RegNetBlockShape {
  std::int64_t in, out, stride, group_width;
  bool squeeze;
};

// 1x1, 3x3 in groups, squeeze-and-excitation where asked for, 1x1.
std::unique_ptr<Sequence> make_bottleneck(const RegNetBlockShape& shape,
                                          const at::Generator& generator) {
  const ConvolutionNormShape a{.in = shape.in, .out = shape.out, .kernel = 1};
  const ConvolutionNormShape b{.in = shape.out,
                               .out = shape.out,
                               .stride = shape.stride,
                               .groups = shape.out / shape.group_width};
  const SqueezeExcitationShape se{.channels = shape.out, .inside = shape.in / 4};
  const ConvolutionNormShape c{
      .in = shape.out, .out = shape.out, .kernel = 1, .activation = Activation::none};
  auto chain = std::make_unique<Sequence>();
  chain->append("a", std::make_unique<ConvolutionNorm>(a, generator));
  chain->append("b", std::make_unique<ConvolutionNorm>(b, generator));
  if (shape.squeeze) chain->append("se", std::make_unique<SqueezeExcitation>(se, generator));
  chain->append("c", std::make_unique<ConvolutionNorm>(c, generator));
  return chain;
}

class ResBottleneckBlock final : public ObservedBlock {
 public:
  ResBottleneckBlock(const RegNetBlockShape& shape, const at::Generator& generator);

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass) override;

  ConvolutionNorm* proj_ = nullptr;  // null: the input itself
  Sequence* f_;
};

ResBottleneckBlock::ResBottleneckBlock(const RegNetBlockShape& shape,
                                       const at::Generator& generator) {
  const ConvolutionNormShape shortcut{.in = shape.in,
                                      .out = shape.out,
                                      .kernel = 1,
                                      .stride = shape.stride,
                                      .activation = Activation::none};
  if (shape.in != shape.out || shape.stride != 1)
    proj_ = make<ConvolutionNorm>("proj", shortcut, generator);
  f_ = child("f", make_bottleneck(shape, generator));
}

at::Tensor ResBottleneckBlock::compute(const at::Tensor& input, const Pass& pass) {
  const auto shortcut = proj_ == nullptr ? input : proj_->forward(input, pass);
  return add_relu_after(
      *f_, input, [&] { return shortcut; }, pass);
}

class RegNet final : public Model {
 public:
  RegNet(const RegNetPlan& plan, const ImageOptions& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  std::vector<NameTable> name_tables() const override;

 private:
  void add_stages(const RegNetPlan& plan, const at::Generator& generator);
  void initialize_weights(const at::Generator& generator);

  ConvolutionNorm* stem_;
  Sequence* trunk_;
  Linear* fc_;
};

RegNet::RegNet(const RegNetPlan& plan, const ImageOptions& options, const ModelContext& context) {
  const auto& generator = context.generator;
  const ConvolutionNormShape stem{
      .in = channels_of(options.in_channels, context, 3), .out = stem_channels, .stride = 2};
  stem_ = make<ConvolutionNorm>("stem", stem, generator);
  trunk_ = make<Sequence>("trunk_output");
  add_stages(plan, generator);
  fc_ =
      make<Linear>("fc", plan.channels.back(), classes_of(options.num_classes, context), generator);
  initialize_weights(generator);
}

void RegNet::add_stages(const RegNetPlan& plan, const at::Generator& generator) {
  RegNetBlockShape shape{stem_channels, stem_channels, 1, plan.group_width, plan.squeeze};
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const auto name = fmt::format("block{}", i + 1);
    auto stage = std::make_unique<Sequence>();
    shape.out = plan.channels[i];
    for (std::int64_t block = 0; block < plan.blocks[i]; ++block) {
      shape.stride = block == 0 ? 2 : 1;
      stage->append(fmt::format("{}-{}", name, block),
                    std::make_unique<ResBottleneckBlock>(shape, generator));
      shape.in = shape.out;
    }
    trunk_->append(name, std::move(stage));
  }
}

// The biases of squeeze-and-excitation stay as its convolutions drew them.
void RegNet::initialize_weights(const at::Generator& generator) {
  for (const auto& [path, module] : modules())
    if (const auto* convolution = dynamic_cast<Convolution*>(module)) {
      const auto& weight = convolution->weight();
      const auto fan = weight.size(0) * weight.size(2) * weight.size(3);
      initialize::normal(weight, std::sqrt(2.0 / static_cast<double>(fan)), generator);
    }
  initialize::normal(fc_->weight(), 0.01, generator);
  initialize::constant(fc_->bias(), 0);
}

// timm's regnetx_004_tv and regnety_004, whose stages and blocks count from 1.
std::vector<NameTable> RegNet::name_tables() const {
  NameTable timm{
      .library = Library::timm,
      .places = {{"stem.0.", "stem.conv."}, {"stem.1.", "stem.bn."}, {"fc.", "head.fc."}},
      .parts = {{"proj.0.", "downsample.conv."},
                {"proj.1.", "downsample.bn."},
                {"f.a.0.", "conv1.conv."},
                {"f.a.1.", "conv1.bn."},
                {"f.b.0.", "conv2.conv."},
                {"f.b.1.", "conv2.bn."},
                {"f.se.", "se."},
                {"f.c.0.", "conv3.conv."},
                {"f.c.1.", "conv3.bn."}}};
  const auto stages = trunk_->children();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const auto stage = std::to_string(i + 1);
    for (std::size_t block = 0; block < stages[i]->children().size(); ++block)
      timm.places.push_back({fmt::format("trunk_output.block{}.block{}-{}.", stage, stage, block),
                             fmt::format("s{}.b{}.", stage, block + 1)});
  }
  return {{.library = Library::torchvision}, timm};
}

at::Tensor RegNet::forward(const at::Tensor& input, const Pass& pass) {
  const auto x = trunk_->forward(stem_->forward(input, pass), pass);
  return fc_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1), pass);
}

Entry<Model> regnet_entry(std::string name, std::string doc, const RegNetPlan& plan) {
  return entry<Model, ImageOptions>(
      std::move(name), std::move(doc),
      [plan](const ImageOptions& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<RegNet>(plan, options, context);
      },
      {"batch_norm", "convolves", "takes_images"});
}

}  // namespace

Entry<Model> regnet_x_400mf_model() {
  return regnet_entry("regnet_x_400mf",
                      "RegNetX with 400 million multiplications, as in torchvision.",
                      {.blocks = {1, 2, 7, 12}, .channels = {32, 64, 160, 400}, .group_width = 16});
}

Entry<Model> regnet_y_400mf_model() {
  return regnet_entry(
      "regnet_y_400mf", "RegNetY with 400 million multiplications, as in torchvision.",
      {.blocks = {1, 3, 6, 6}, .channels = {48, 104, 208, 440}, .group_width = 8, .squeeze = true});
}

}  // namespace ddptrain
