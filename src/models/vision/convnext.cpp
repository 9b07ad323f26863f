// convnext_tiny, convnext_small, convnext_base. ConvNeXt of torchvision (Liu et al. 2022). Names,
// order and first weights are torchvision's.
#include <ATen/ops/full.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <numeric>
#include <string>

#include "models/layers/activation.h"
#include "models/layers/channels.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/layers/norm.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/recompute.h"
#include "models/sizes.h"
#include "models/vision/image_options.h"
#include "models/vision/pooled_classifier.h"

namespace ddptrain {
namespace {

struct ConvNeXtPlan {
  std::array<std::int64_t, 4> channels;
  std::array<std::int64_t, 4> blocks;
};

constexpr double layer_norm_eps = 1e-6;

struct ConvNeXtOptions {
  ImageOptions image;
  double stochastic_depth_prob = 0.1;
  double layer_scale = 1e-6;
  void fields(Fields& f) {
    image.fields(f);
    f("stochastic_depth_prob", stochastic_depth_prob,
      {.doc = "Probability of skipping the last block; it grows evenly from 0 at the first.",
       .min = 0,
       .max = 1});
    f("layer_scale", layer_scale,
      {.doc = "First factor on what each block adds, learned for each channel.", .min = 0});
  }
};

struct ConvNeXtSmallOptions : ConvNeXtOptions {
  ConvNeXtSmallOptions() { stochastic_depth_prob = 0.4; }
};

struct ConvNeXtBaseOptions : ConvNeXtOptions {
  ConvNeXtBaseOptions() { stochastic_depth_prob = 0.5; }
};

at::Tensor channels_to_end(const at::Tensor& images) { return images.permute({0, 2, 3, 1}); }
at::Tensor channels_to_front(const at::Tensor& places) { return places.permute({0, 3, 1, 2}); }

/// Layer norm over the channels of images.
class LayerNorm2d final : public Module {
 public:
  explicit LayerNorm2d(std::int64_t channels)
      : weight_(parameter("weight", at::ones({channels}))),
        bias_(parameter("bias", at::zeros({channels}))) {}
  at::Tensor forward(const at::Tensor& input, const Pass&) override {
    return channels_to_front(
        at::layer_norm(channels_to_end(input), weight_.sizes(), weight_, bias_, layer_norm_eps));
  }
  bool is_norm() const override { return true; }

 private:
  at::Tensor weight_, bias_;
};

class CNBlock final : public Module {
 public:
  struct Rates {
    double layer_scale, skipped;
  };
  CNBlock(std::int64_t channels, const Rates& rates, const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  bool is_block() const override { return true; }

 private:
  at::Tensor compute(const at::Tensor& input, const Pass& pass);
  at::Tensor layer_scale_;
  Sequence* block_;
  StochasticDepth* stochastic_depth_;
};

CNBlock::CNBlock(std::int64_t channels, const Rates& rates, const at::Generator& generator)
    : layer_scale_(parameter("layer_scale", at::full({channels, 1, 1}, rates.layer_scale))),
      block_(make<Sequence>("block")) {
  const ConvolutionShape depthwise{
      .in = channels, .out = channels, .kernel = 7, .padding = 3, .groups = channels, .bias = true};
  block_->add<Convolution>(depthwise, generator);
  block_->add<ChannelsToEnd>();
  block_->add<LayerNorm>(channels, layer_norm_eps);
  block_->add<Linear>(channels, 4 * channels, generator);
  block_->add<Activate>(Activation::gelu);
  block_->add<Linear>(4 * channels, channels, generator);
  block_->add<ChannelsToFront>();
  stochastic_depth_ = make<StochasticDepth>("stochastic_depth", rates.skipped);
}

at::Tensor CNBlock::forward(const at::Tensor& input, const Pass& pass) {
  return run_block(*this, input, pass, [this](const at::Tensor& given, const Pass& again) {
    return compute(given, again);
  });
}

at::Tensor CNBlock::compute(const at::Tensor& input, const Pass& pass) {
  const auto x = layer_scale_.mul(block_->forward(input, pass));
  return stochastic_depth_->forward(x, pass).add_(input);
}

class ConvNeXt final : public PooledClassifier {
 public:
  ConvNeXt(const ConvNeXtPlan& plan, const ConvNeXtOptions& options, const ModelContext& context);
  std::vector<NameTable> name_tables() const override;

 private:
  void add_stages(const ConvNeXtPlan& plan, const CNBlock::Rates& rates,
                  const at::Generator& generator);
  void initialize_weights(const at::Generator& generator);
};

ConvNeXt::ConvNeXt(const ConvNeXtPlan& plan, const ConvNeXtOptions& options,
                   const ModelContext& context) {
  require_size(context, "convnext", 32);
  const auto& generator = context.generator;
  const ConvolutionShape stem{.in = channels_of(options.image.in_channels, context, 3),
                              .out = plan.channels.front(),
                              .kernel = 4,
                              .stride = 4,
                              .bias = true};
  auto* first = features().add<Sequence>();
  first->add<Convolution>(stem, generator);
  first->add<LayerNorm2d>(stem.out);
  add_stages(plan, {options.layer_scale, options.stochastic_depth_prob}, generator);
  const auto channels = plan.channels.back();
  classifier().add<LayerNorm>(channels, layer_norm_eps);
  classifier().add<Flatten>();
  classifier().add<Linear>(channels, classes_of(options.image.num_classes, context), generator);
  initialize_weights(generator);
}

void ConvNeXt::add_stages(const ConvNeXtPlan& plan, const CNBlock::Rates& rates,
                          const at::Generator& generator) {
  const auto last = std::accumulate(plan.blocks.begin(), plan.blocks.end(), std::int64_t{-1});
  std::int64_t before = 0;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const auto channels = plan.channels[i];
    auto* stage = features().add<Sequence>();
    for (std::int64_t block = 0; block < plan.blocks[i]; ++block) {
      const double depth = static_cast<double>(before++) / static_cast<double>(last);
      stage->add<CNBlock>(channels, CNBlock::Rates{rates.layer_scale, rates.skipped * depth},
                          generator);
    }
    if (i + 1 == plan.blocks.size()) break;
    const ConvolutionShape halve{
        .in = channels, .out = plan.channels[i + 1], .kernel = 2, .stride = 2, .bias = true};
    auto* between = features().add<Sequence>();
    between->add<LayerNorm2d>(channels);
    between->add<Convolution>(halve, generator);
  }
}

std::vector<NameTable> ConvNeXt::name_tables() const {
  const NameTable timm{.library = Library::timm,
                       .places = {{"features.0.", "stem."},
                                  {"features.1.*.", "stages.0.blocks.*."},
                                  {"features.2.", "stages.1.downsample."},
                                  {"features.3.*.", "stages.1.blocks.*."},
                                  {"features.4.", "stages.2.downsample."},
                                  {"features.5.*.", "stages.2.blocks.*."},
                                  {"features.6.", "stages.3.downsample."},
                                  {"features.7.*.", "stages.3.blocks.*."},
                                  {"classifier.0.", "head.norm."},
                                  {"classifier.2.", "head.fc."}},
                       .parts = {{"layer_scale", "gamma", FormThere::vector},
                                 {"block.0.", "conv_dw."},
                                 {"block.2.", "norm."},
                                 {"block.3.", "mlp.fc1."},
                                 {"block.5.", "mlp.fc2."}}};
  return {{.library = Library::torchvision}, timm};
}

void ConvNeXt::initialize_weights(const at::Generator& generator) {
  const auto draw = [&](const auto* layer) {
    if (layer == nullptr) return;
    initialize::truncated_normal(layer->weight(), 0.02, generator);
    initialize::constant(layer->bias(), 0);
  };
  for (const auto& [path, module] : modules()) {
    draw(dynamic_cast<Convolution*>(module));
    draw(dynamic_cast<Linear*>(module));
  }
}

template <class Options>
Entry<Model> convnext_entry(std::string name, std::string doc, const ConvNeXtPlan& plan) {
  return entry<Model, Options>(
      std::move(name), std::move(doc),
      [plan](const Options& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<ConvNeXt>(plan, options, context);
      },
      {"blocks", "body", "convolves", "takes_images"});
}

}  // namespace

Entry<Model> convnext_tiny_model() {
  return convnext_entry<ConvNeXtOptions>("convnext_tiny", "ConvNeXt Tiny, as in torchvision.",
                                         {.channels = {96, 192, 384, 768}, .blocks = {3, 3, 9, 3}});
}

Entry<Model> convnext_small_model() {
  return convnext_entry<ConvNeXtSmallOptions>(
      "convnext_small", "ConvNeXt Small, as in torchvision.",
      {.channels = {96, 192, 384, 768}, .blocks = {3, 3, 27, 3}});
}

Entry<Model> convnext_base_model() {
  return convnext_entry<ConvNeXtBaseOptions>(
      "convnext_base", "ConvNeXt Base, as in torchvision.",
      {.channels = {128, 256, 512, 1024}, .blocks = {3, 3, 27, 3}});
}

}  // namespace ddptrain
