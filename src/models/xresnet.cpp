#include "models/xresnet.h"

#include "base/error.h"
#include "models/body.h"
#include "models/convolution.h"
#include "models/dropout.h"
#include "models/initialise.h"
#include "models/pooling.h"
#include "models/self_attention.h"
#include "models/sizes.h"
#include "models/xresnet_block.h"

namespace ddptrain {
namespace {

using Sizes = std::vector<std::int64_t>;

struct XResNetOptions {
  Auto<std::int64_t> num_classes;
  Auto<std::int64_t> in_channels;
  Activation activation = Activation::relu;
  bool self_attention = false;
  bool sym = false;
  XPool pool = XPool::average;
  Sizes stem = {32, 32, 64};
  double widen = 1;
  double dropout = 0;
  void fields(Fields& f) {
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
    f("stem", stem,
      {.doc = "Channels of the three first convolutions.",
       .min = 1,
       .min_items = 3,
       .max_items = 3});
    f("widen", widen,
      {.doc = "Factor on the channels of every stage.", .min = 0, .above_min = true});
    f("dropout", dropout,
      {.doc = "Probability of dropping each feature before the last layer (fastai's p).",
       .min = 0,
       .max = 1});
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
    initialise_weights(generator);
  }

  /// fastai cuts the pooling, flattening, dropout and last layer off, and divides after the stem.
  Body take_body() override {
    Body body;
    for (std::size_t i = 0; i < plan_.blocks.size() + 4; ++i)
      body.take(std::to_string(i), take(std::to_string(i)));
    body.divide(body.layers->children(), 3);
    return body;
  }

 private:
  Sizes stage_sizes() const;
  void add_stem(std::int64_t channels, const at::Generator& generator);
  void add_stage(std::size_t stage, const Sizes& sizes, const at::Generator& generator);
  XBlockShape block_shape(std::int64_t ni, std::int64_t nf) const;
  void initialise_weights(const at::Generator& generator);

  XResNetPlan plan_;
  XResNetOptions options_;
};

// 64, 128, 256, 512, then 256 for each further stage; before them what the stem leaves.
Sizes XResNet::stage_sizes() const {
  const auto start = options_.stem.back();
  if (start % plan_.expansion != 0)
    throw Error(Exit::recipe, "model.stem: the last of its channels must be a multiple of " +
                                  std::to_string(plan_.expansion));
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
  add<MaxPool>(Window{.kernel = 3, .stride = 2, .padding = 1});
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
void XResNet::initialise_weights(const at::Generator& generator) {
  const auto renew = [&](const at::Tensor& weight, const at::Tensor& bias) {
    if (bias.defined()) initialise::constant(bias, 0);
    initialise::kaiming_normal(weight, initialise::Fan::in, generator);
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

}  // namespace

Entry<Model> xresnet_entry(std::string name, std::string doc, const XResNetPlan& plan) {
  return entry<Model, XResNetOptions>(
      std::move(name), std::move(doc),
      [plan](const XResNetOptions& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<XResNet>(plan, options, context);
      },
      {"batch_norm", "body", "dropout", "takes_images"});
}

}  // namespace ddptrain
