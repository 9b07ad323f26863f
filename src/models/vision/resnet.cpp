// resnet18, resnet34, resnet50, resnet101, resnet152, wide_resnet50_2, resnext50_32x4d. The
// residual networks of torchvision: He et al. 2016 with the stride in the 3x3 convolution, wide
// (Zagoruyko and Komodakis 2016) and ResNeXt (Xie et al. 2017). Names, order and first weights are
// torchvision's.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <fmt/format.h>

#include <array>
#include <string>

#include "models/layers/activation.h"
#include "models/layers/initialize.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/resnet_block.h"

namespace ddptrain {
namespace {

struct ResNetPlan {
  enum class Block { basic, bottleneck };
  Block block = Block::basic;
  std::array<std::int64_t, 4> blocks = {2, 2, 2, 2};
  std::int64_t groups = 1;
  std::int64_t width_per_group = 64;
};

struct ResNetOptions {
  Auto<std::int64_t> num_classes;
  Auto<std::int64_t> in_channels;
  bool zero_init_residual = false;
  void fields(Fields& f) {
    f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
    f("in_channels", in_channels,
      {.doc = "Channels of an image; auto takes the data's, or 3.", .min = 1});
    f("zero_init_residual", zero_init_residual,
      {.doc = "Start every block as the identity: its last batch norm scales by 0."});
  }
};

/// Of networks with bottlenecks, whose 3x3 convolutions torchvision can dilate.
struct BottleneckOptions : ResNetOptions {
  bool dilated = false;
  void fields(Fields& f) {
    ResNetOptions::fields(f);
    f("dilated", dilated,
      {.doc = "The two last stages keep the size of their features and dilate their convolutions "
              "(torchvision's replace_stride_with_dilation: [false, true, true])."});
  }
};

class ResNet final : public Model {
 public:
  ResNet(const ResNetPlan& plan, const BottleneckOptions& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  Body take_body() override;
  std::vector<NameTable> name_tables() const override {
    return same_names({Library::torchvision, Library::timm});
  }

 private:
  template <class Block>
  void add_layers(const ResNetPlan& plan, bool dilated, const at::Generator& generator);
  void initialize_weights(bool zero_residual, const at::Generator& generator);

  Convolution* conv1_;
  BatchNorm* bn1_;
  std::array<Sequence*, 4> layers_{};
  std::int64_t features_ = 0;
  Linear* fc_;
};

ResNet::ResNet(const ResNetPlan& plan, const BottleneckOptions& options,
               const ModelContext& context) {
  const auto& generator = context.generator;
  const ConvolutionShape stem{.in = channels_of(options.in_channels, context, 3),
                              .out = 64,
                              .kernel = 7,
                              .stride = 2,
                              .padding = 3};
  conv1_ = make<Convolution>("conv1", stem, generator);
  bn1_ = make<BatchNorm>("bn1", 64);
  if (plan.block == ResNetPlan::Block::basic)
    add_layers<BasicBlock>(plan, false, generator);
  else
    add_layers<Bottleneck>(plan, options.dilated, generator);
  fc_ = make<Linear>("fc", features_, classes_of(options.num_classes, context), generator);
  initialize_weights(options.zero_init_residual, generator);
}

// A stage that keeps its size dilates by twice what the one before it does, from its second block
// on.
template <class Block>
void ResNet::add_layers(const ResNetPlan& plan, bool dilated, const at::Generator& generator) {
  ResNetBlockShape shape{.groups = plan.groups, .width_per_group = plan.width_per_group};
  for (std::size_t i = 0; i < 4; ++i) {
    layers_[i] = make<Sequence>(fmt::format("layer{}", i + 1));
    shape.planes = 64 << i;
    const bool keeps_size = dilated && i >= 2;
    for (std::int64_t block = 0; block < plan.blocks[i]; ++block) {
      shape.stride = i > 0 && block == 0 && !keeps_size ? 2 : 1;
      if (keeps_size && block == 1) shape.dilation *= 2;
      layers_[i]->template add<Block>(shape, generator);
      shape.in = shape.planes * Block::expansion;
    }
  }
  features_ = shape.in;
}

void ResNet::initialize_weights(bool zero_residual, const at::Generator& generator) {
  for (const auto& [path, module] : modules())
    if (const auto* convolution = dynamic_cast<Convolution*>(module))
      initialize::kaiming_normal(convolution->weight(), initialize::Fan::out, generator);
  if (!zero_residual) return;
  for (const auto& [path, module] : modules())
    if (const auto* block = dynamic_cast<ResNetBlock*>(module))
      initialize::constant(block->last_norm().weight(), 0);
}

at::Tensor ResNet::forward(const at::Tensor& input, const Pass& pass) {
  auto x = bn1_->forward_relu(conv1_->forward(input, pass), {}, pass);
  x = max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  for (auto* layer : layers_) x = layer->forward(x, pass);
  return fc_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1), pass);
}

// fastai divides it before layer3.
Body ResNet::take_body() {
  Body body;
  body.append("conv1", release_child("conv1"));
  body.append("bn1", release_child("bn1"));
  body.layers->add<Activate>(Activation::relu, Activate::Input::overwrite);
  body.layers->add<MaxPool>(PoolWindow{.kernel = 3, .stride = 2, .padding = 1});
  for (const auto* name : {"layer1", "layer2", "layer3", "layer4"})
    body.append(name, release_child(name));
  body.divide(body.layers->children(), 6);
  body.middle = 6;
  return body;
}

Entry<Model> resnet_entry(std::string name, std::string doc, const ResNetPlan& plan) {
  if (plan.block == ResNetPlan::Block::basic)
    return entry<Model, ResNetOptions>(
        std::move(name), std::move(doc),
        [plan](const ResNetOptions& options,
               const ModelContext& context) -> std::unique_ptr<Model> {
          return std::make_unique<ResNet>(plan, BottleneckOptions{options, false}, context);
        },
        {"batch_norm", "body", "convolves", "takes_images"});
  return entry<Model, BottleneckOptions>(
      std::move(name), std::move(doc),
      [plan](const BottleneckOptions& options, const ModelContext& context)
          -> std::unique_ptr<Model> { return std::make_unique<ResNet>(plan, options, context); },
      {"batch_norm", "body", "convolves", "dilates", "takes_images"});
}

}  // namespace

Entry<Model> resnet18_model() {
  return resnet_entry("resnet18", "Residual network with 18 layers, as in torchvision.",
                      {.block = ResNetPlan::Block::basic, .blocks = {2, 2, 2, 2}});
}

Entry<Model> resnet34_model() {
  return resnet_entry("resnet34", "Residual network with 34 layers, as in torchvision.",
                      {.block = ResNetPlan::Block::basic, .blocks = {3, 4, 6, 3}});
}

Entry<Model> resnet50_model() {
  return resnet_entry("resnet50",
                      "Residual network with 50 layers in bottlenecks, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 4, 6, 3}});
}

Entry<Model> resnet101_model() {
  return resnet_entry("resnet101",
                      "Residual network with 101 layers in bottlenecks, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 4, 23, 3}});
}

Entry<Model> resnet152_model() {
  return resnet_entry("resnet152",
                      "Residual network with 152 layers in bottlenecks, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 8, 36, 3}});
}

Entry<Model> wide_resnet50_2_model() {
  return resnet_entry(
      "wide_resnet50_2",
      "ResNet-50 with twice the channels inside each bottleneck, as in torchvision.",
      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 4, 6, 3}, .width_per_group = 128});
}

Entry<Model> resnext50_32x4d_model() {
  return resnet_entry("resnext50_32x4d",
                      "ResNeXt-50 with 32 groups of 4 channels, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck,
                       .blocks = {3, 4, 6, 3},
                       .groups = 32,
                       .width_per_group = 4});
}

}  // namespace ddptrain
