// xresnet18, xresnet18_deep, xresnet34, xresnet50, xresnet101, xresnext18, xresnext50,
// xse_resnet18, xse_resnet34, xse_resnext18, xse_resnext50. The xresnets of fastai 2.8: ResNet-D
// (He et al., "Bag of tricks", 2019) with a choice of activation, pooling, self-attention, squeeze-
// and-excitation and grouped convolutions. Names, order and first weights are fastai's.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/names.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/layers/pooling.h"
#include "models/layers/self_attention.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/xresnet_block.h"

namespace ddptrain {
namespace {

/// What a name stands for. `se` is fastai's SEBlock, `resnext` its SEResNeXtBlock (groups of 32,
/// base width 4); `reduction` 0 leaves squeeze-and-excitation out.
struct XResNetPlan {
  enum class Block { plain, se, resnext };
  Block block = Block::plain;
  std::int64_t expansion = 1;
  std::vector<std::int64_t> blocks = {2, 2, 2, 2};
  std::int64_t reduction = 0;
};

using Sizes = std::vector<std::int64_t>;

enum class StemPool { max, max_blur };
std::span<const std::string_view> names(StemPool) { return kNameList<"max", "max_blur">; }

struct XResNetOptions {
  Auto<std::int64_t> num_classes;
  Auto<std::int64_t> in_channels;
  Activation activation = Activation::relu;
  bool self_attention = false;
  bool sym = false;
  XPool pool = XPool::average;
  StemPool stem_pool = StemPool::max;
  Sizes stem = {32, 32, 64};
  double widen = 1;
  double dropout = 0;
  void declare(Fields& f, double least_widen) {
    f("num_classes", num_classes, {.doc = "Outputs; auto takes the data's classes.", .min = 1});
    f("in_channels", in_channels,
      {.doc = "Channels of an image; auto takes the data's, or 3.", .min = 1});
    f("activation", activation, {.doc = "Activation of every layer."});
    f("self_attention", self_attention,
      {.doc = "Simple self-attention at the end of the first stage (fastai's sa)."});
    f("sym", sym,
      {.doc = "Accepted because fastai has it; as there, the spectral norm of self-attention "
              "overwrites the symmetric weight and nothing changes."});
    f("pool", pool, {.doc = "What halves the shortcut of a block with stride 2."});
    f("stem_pool", stem_pool, {.doc = "What halves the features behind the stem."});
    f("stem", stem,
      {.doc = "Channels of the three first convolutions.",
       .min = 1,
       .min_items = 3,
       .max_items = 3});
    f("widen", widen, {.doc = "Factor on the channels of every stage.", .min = least_widen});
    f("dropout", dropout,
      {.doc = "Probability of dropping each feature before the last layer (fastai's p).",
       .min = 0,
       .max = 1});
  }
};

/// `wide`: of networks whose blocks make four times the channels. `squeezed`: of those with
/// squeeze-and-excitation, which divides 16 channels, the first stage's at a quarter of its 64; the
/// others have one channel at least.
template <bool wide, bool squeezed>
struct DeclaredXResNetOptions : XResNetOptions {
  void fields(Fields& f) {
    declare(f, squeezed ? 0.25 : 1.0 / 64);
    if (wide) f.require(always(multiple_of("stem[2]", 4)));
  }
};

class XResNet final : public SequentialModel {
 public:
  XResNet(const XResNetPlan& plan, const XResNetOptions& options, const ModelContext& context)
      : plan_(plan), options_(options) {
    const auto& generator = context.generator;
    add_stem(channels_of(options.in_channels, context, 3), generator);
    const auto sizes = stage_sizes();
    for (std::size_t i = 0; i < plan.blocks.size(); ++i) add_stage(i, sizes, generator);
    add<AdaptiveAveragePool>(1);
    add<Flatten>();
    add<Dropout>(options.dropout);
    add<Linear>(sizes.back() * plan.expansion, classes_of(options.num_classes, context), generator);
    initialize_weights(generator);
  }

  /// fastai cuts the pooling, flattening, dropout and last layer off, and divides after the stem.
  Body take_body() override {
    Body body;
    for (std::size_t i = 0; i < plan_.blocks.size() + 4; ++i)
      body.append(std::to_string(i), release_child(std::to_string(i)));
    body.divide(body.layers->children(), 3);
    return body;
  }

 private:
  Sizes stage_sizes() const;
  void add_stem(std::int64_t channels, const at::Generator& generator);
  void add_stage(std::size_t stage, const Sizes& sizes, const at::Generator& generator);
  XBlockShape block_shape(std::int64_t ni, std::int64_t nf) const;
  void initialize_weights(const at::Generator& generator);

  XResNetPlan plan_;
  XResNetOptions options_;
};

// 64, 128, 256, 512, then 256 for each further stage; before them what the stem leaves.
Sizes XResNet::stage_sizes() const {
  const auto start = options_.stem.back();
  Sizes sizes = {start / plan_.expansion};
  for (std::size_t i = 0; i < plan_.blocks.size(); ++i)
    sizes.push_back(static_cast<std::int64_t>((i < 4 ? 64 << i : 256) * options_.widen));
  return sizes;
}

void XResNet::add_stem(std::int64_t channels, const at::Generator& generator) {
  for (std::size_t i = 0; i < 3; ++i) {
    append(
        conv_layer({.in = channels, .out = options_.stem[i], .kernel = 3, .stride = i == 0 ? 2 : 1},
                   options_.activation, generator));
    channels = options_.stem[i];
  }
  if (options_.stem_pool == StemPool::max_blur)
    add<MaxBlurPool>();
  else
    add<MaxPool>(PoolWindow{.kernel = 3, .stride = 2, .padding = 1});
}

void XResNet::add_stage(std::size_t stage, const Sizes& sizes, const at::Generator& generator) {
  auto* blocks = add<Sequence>();
  const auto count = plan_.blocks[stage];
  for (std::int64_t b = 0; b < count; ++b) {
    auto shape = block_shape(b == 0 ? sizes[stage] : sizes[stage + 1], sizes[stage + 1]);
    shape.stride = b == 0 && stage > 0 ? 2 : 1;
    shape.self_attention =
        options_.self_attention && stage + 4 == plan_.blocks.size() && b == count - 1;
    blocks->add<XBlock>(shape, generator);
  }
}

XBlockShape XResNet::block_shape(std::int64_t ni, std::int64_t nf) const {
  XBlockShape shape{.expansion = plan_.expansion,
                    .ni = ni,
                    .nf = nf,
                    .nh1 = nf,
                    .nh2 = nf,
                    .reduction = plan_.reduction,
                    .activation = options_.activation,
                    .pool = options_.pool};
  if (plan_.block == XResNetPlan::Block::se) {
    shape.nh1 = nf * 2;
    shape.nh2 = nf * plan_.expansion;
  } else if (plan_.block == XResNetPlan::Block::resnext) {
    shape.groups = 32;
    shape.nh1 = shape.nh2 = nf * 4 / 64 * 32;
  }
  return shape;
}

// fastai's init_cnn.
void XResNet::initialize_weights(const at::Generator& generator) {
  const auto renew = [&](const at::Tensor& weight, const at::Tensor& bias) {
    if (bias.defined()) initialize::constant(bias, 0);
    initialize::kaiming_normal(weight, initialize::Fan::in, generator);
  };
  for (const auto& [path, module] : modules()) {
    if (const auto* convolution = dynamic_cast<Convolution*>(module))
      renew(convolution->weight(), convolution->bias());
    else if (const auto* linear = dynamic_cast<Linear*>(module))
      renew(linear->weight(), linear->bias());
    else if (const auto* spectral = dynamic_cast<SpectralConvolution*>(module))
      renew(spectral->weight(), {});
  }
}

template <class Options>
Entry<Model> entry_of(std::string name, std::string doc, const XResNetPlan& plan) {
  return entry<Model, Options>(
      std::move(name), std::move(doc),
      [plan](const XResNetOptions& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<XResNet>(plan, options, context);
      },
      {"batch_norm", "body", "convolves", "dropout", "takes_images"});
}

template <bool wide>
Entry<Model> entry_with(std::string name, std::string doc, const XResNetPlan& plan) {
  if (plan.reduction > 0)
    return entry_of<DeclaredXResNetOptions<wide, true>>(std::move(name), std::move(doc), plan);
  return entry_of<DeclaredXResNetOptions<wide, false>>(std::move(name), std::move(doc), plan);
}

Entry<Model> xresnet_entry(std::string name, std::string doc, const XResNetPlan& plan) {
  if (plan.expansion == 1) return entry_with<false>(std::move(name), std::move(doc), plan);
  DDP_CHECK(plan.expansion == 4, "blocks make as many channels as they take, or four times");
  return entry_with<true>(std::move(name), std::move(doc), plan);
}

}  // namespace

Entry<Model> xresnet18_model() {
  return xresnet_entry(
      "xresnet18", "fastai's ResNet-D with 18 layers.",
      {.block = XResNetPlan::Block::plain, .expansion = 1, .blocks = {2, 2, 2, 2}, .reduction = 0});
}

Entry<Model> xresnet18_deep_model() {
  return xresnet_entry("xresnet18_deep", "fastai's xresnet18 with two more stages.",
                       {.block = XResNetPlan::Block::plain,
                        .expansion = 1,
                        .blocks = {2, 2, 2, 2, 1, 1},
                        .reduction = 0});
}

Entry<Model> xresnet34_model() {
  return xresnet_entry(
      "xresnet34", "fastai's ResNet-D with 34 layers.",
      {.block = XResNetPlan::Block::plain, .expansion = 1, .blocks = {3, 4, 6, 3}, .reduction = 0});
}

Entry<Model> xresnet50_model() {
  return xresnet_entry(
      "xresnet50", "fastai's ResNet-D with 50 layers.",
      {.block = XResNetPlan::Block::plain, .expansion = 4, .blocks = {3, 4, 6, 3}, .reduction = 0});
}

Entry<Model> xresnet101_model() {
  return xresnet_entry("xresnet101", "fastai's ResNet-D with 101 layers.",
                       {.block = XResNetPlan::Block::plain,
                        .expansion = 4,
                        .blocks = {3, 4, 23, 3},
                        .reduction = 0});
}

Entry<Model> xresnext18_model() {
  return xresnet_entry("xresnext18", "fastai's xresnet18 with grouped convolutions.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 1,
                        .blocks = {2, 2, 2, 2},
                        .reduction = 0});
}

Entry<Model> xresnext50_model() {
  return xresnet_entry("xresnext50", "fastai's xresnet50 with grouped convolutions.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 4,
                        .blocks = {3, 4, 6, 3},
                        .reduction = 0});
}

Entry<Model> xse_resnet18_model() {
  return xresnet_entry(
      "xse_resnet18", "fastai's xresnet18 with squeeze-and-excitation.",
      {.block = XResNetPlan::Block::se, .expansion = 1, .blocks = {2, 2, 2, 2}, .reduction = 16});
}

Entry<Model> xse_resnet34_model() {
  return xresnet_entry(
      "xse_resnet34", "fastai's xresnet34 with squeeze-and-excitation.",
      {.block = XResNetPlan::Block::se, .expansion = 1, .blocks = {3, 4, 6, 3}, .reduction = 16});
}

Entry<Model> xse_resnext18_model() {
  return xresnet_entry("xse_resnext18", "fastai's xresnext18 with squeeze-and-excitation.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 1,
                        .blocks = {2, 2, 2, 2},
                        .reduction = 16});
}

Entry<Model> xse_resnext50_model() {
  return xresnet_entry("xse_resnext50", "fastai's xresnext50 with squeeze-and-excitation.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 4,
                        .blocks = {3, 4, 6, 3},
                        .reduction = 16});
}

}  // namespace ddptrain
