// densenet121, densenet169. The densely connected networks of torchvision (Huang et al. 2017,
// DenseNet-BC). Names, order and first weights are torchvision's.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>

#include <array>
#include <string>

#include "models/layers/initialise.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/densenet_block.h"
#include "models/vision/image_options.h"

namespace ddptrain {
namespace {

struct DenseNetPlan {
  std::array<std::int64_t, 4> layers = {6, 12, 24, 16};  // of each block
  std::int64_t growth = 32;                              // channels that a layer adds
  std::int64_t stem = 64;                                // channels of the first convolution
};

struct DenseNetOptions : ImageOptions {
  double drop_rate = 0;
  void fields(Fields& f) {
    ImageOptions::fields(f);
    f("drop_rate", drop_rate,
      {.doc = "Probability of dropping each element that a dense layer makes.",
       .min = 0,
       .max = 1});
  }
};

/// Everything before the last ReLU.
class DenseFeatures final : public Module {
 public:
  DenseFeatures(const DenseNetPlan& plan, double drop_rate, std::int64_t in,
                const at::Generator& generator);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  std::int64_t channels() const { return channels_; }

 private:
  void add_blocks(const DenseNetPlan& plan, double drop_rate, const at::Generator& generator);

  Convolution* conv0_;
  BatchNorm *norm0_, *norm5_;
  std::vector<Module*> blocks_;  // dense blocks with transitions between them
  std::int64_t channels_;
};

DenseFeatures::DenseFeatures(const DenseNetPlan& plan, double drop_rate, std::int64_t in,
                             const at::Generator& generator)
    : channels_(plan.stem) {
  const ConvolutionShape stem{.in = in, .out = plan.stem, .kernel = 7, .stride = 2, .padding = 3};
  conv0_ = make<Convolution>("conv0", stem, generator);
  norm0_ = make<BatchNorm>("norm0", plan.stem);
  add_blocks(plan, drop_rate, generator);
  norm5_ = make<BatchNorm>("norm5", channels_);
}

void DenseFeatures::add_blocks(const DenseNetPlan& plan, double drop_rate,
                               const at::Generator& generator) {
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const auto number = std::to_string(i + 1);
    const DenseBlockShape shape{
        .in = channels_, .layers = plan.layers[i], .growth = plan.growth, .drop_rate = drop_rate};
    blocks_.push_back(make<DenseBlock>("denseblock" + number, shape, generator));
    channels_ = shape.out();
    if (i + 1 == plan.layers.size()) continue;
    blocks_.push_back(make<DenseTransition>("transition" + number, channels_, generator));
    channels_ /= 2;
  }
}

at::Tensor DenseFeatures::forward(const at::Tensor& input, const Pass& pass) {
  auto x = norm0_->forward(conv0_->forward(input, pass), pass);
  x = at::max_pool2d(at::relu_(x), 3, 2, 1);
  for (auto* block : blocks_) x = block->forward(x, pass);
  return norm5_->forward(x, pass);
}

class DenseNet final : public Model {
 public:
  DenseNet(const DenseNetPlan& plan, const DenseNetOptions& options, const ModelContext& context) {
    require_size(context, "densenet", 29);
    features_ =
        make<DenseFeatures>("features", plan, options.drop_rate,
                            channels_of(options.in_channels, context, 3), context.generator);
    classifier_ = make<Linear>("classifier", features_->channels(),
                               classes_of(options.num_classes, context), context.generator);
    initialise_weights(context.generator);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    auto x = features_->forward(input, pass);
    return classifier_->forward(at::adaptive_avg_pool2d(at::relu_(x), {1, 1}).flatten(1), pass);
  }
  /// Divided as fastai does: after the second dense block.
  Body take_body() override { return take_features(5); }

 private:
  void initialise_weights(const at::Generator& generator);

  DenseFeatures* features_;
  Linear* classifier_;
};

void DenseNet::initialise_weights(const at::Generator& generator) {
  for (const auto& [path, module] : modules())
    if (const auto* convolution = dynamic_cast<Convolution*>(module))
      initialise::kaiming_normal(convolution->weight(), initialise::Fan::in, generator);
  initialise::constant(classifier_->bias(), 0);
}

Entry<Model> densenet_entry(std::string name, std::string doc, const DenseNetPlan& plan) {
  return entry<Model, DenseNetOptions>(
      std::move(name), std::move(doc),
      [plan](const DenseNetOptions& options, const ModelContext& context)
          -> std::unique_ptr<Model> { return std::make_unique<DenseNet>(plan, options, context); },
      {"batch_norm", "body", "dropout", "takes_images"});
}

}  // namespace

Entry<Model> densenet121_model() {
  return densenet_entry("densenet121",
                        "Densely connected network with 121 layers, as in torchvision.",
                        {.layers = {6, 12, 24, 16}});
}

Entry<Model> densenet169_model() {
  return densenet_entry("densenet169",
                        "Densely connected network with 169 layers, as in torchvision.",
                        {.layers = {6, 12, 32, 32}});
}

}  // namespace ddptrain
