// densenet121, densenet169. The densely connected networks of torchvision (Huang et al. 2017,
// DenseNet-BC). Names, order and first weights are torchvision's.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/relu.h>

#include <array>
#include <string>

#include "models/layers/activation.h"
#include "models/layers/initialize.h"
#include "models/layers/pooling.h"
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

class DenseNet final : public Model {
 public:
  DenseNet(const DenseNetPlan& plan, const DenseNetOptions& options, const ModelContext& context) {
    require_size(context, "densenet", 29);
    features_ = make<Sequence>("features");
    const auto channels = add_features(
        plan, options.drop_rate, channels_of(options.in_channels, context, 3), context.generator);
    classifier_ = make<Linear>("classifier", channels, classes_of(options.num_classes, context),
                               context.generator);
    initialize_weights(context.generator);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    auto x = features_->forward(input, pass);
    return classifier_->forward(at::adaptive_avg_pool2d(at::relu_(x), {1, 1}).flatten(1), pass);
  }
  /// Divided as fastai does: after the second dense block.
  Body take_body() override { return take_features(7); }
  std::vector<NameTable> name_tables() const override;

 private:
  std::int64_t add_features(const DenseNetPlan& plan, double drop_rate, std::int64_t in,
                            const at::Generator& generator);
  std::int64_t add_blocks(const DenseNetPlan& plan, double drop_rate,
                          const at::Generator& generator);
  void initialize_weights(const at::Generator& generator);

  Sequence* features_;  // everything before the last ReLU
  Linear* classifier_;
};

/// Returns the channels at their end, as add_blocks does.
std::int64_t DenseNet::add_features(const DenseNetPlan& plan, double drop_rate, std::int64_t in,
                                    const at::Generator& generator) {
  const ConvolutionShape stem{.in = in, .out = plan.stem, .kernel = 7, .stride = 2, .padding = 3};
  features_->append("conv0", std::make_unique<Convolution>(stem, generator));
  features_->append("norm0", std::make_unique<BatchNorm>(plan.stem));
  features_->append("relu0",
                    std::make_unique<Activate>(Activation::relu, Activate::Input::overwrite));
  const PoolWindow halved{.kernel = 3, .stride = 2, .padding = 1};
  features_->append("pool0", std::make_unique<MaxPool>(halved));
  const auto channels = add_blocks(plan, drop_rate, generator);
  features_->append("norm5", std::make_unique<BatchNorm>(channels));
  return channels;
}

/// Dense blocks with transitions between them.
std::int64_t DenseNet::add_blocks(const DenseNetPlan& plan, double drop_rate,
                                  const at::Generator& generator) {
  auto channels = plan.stem;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const auto number = std::to_string(i + 1);
    const DenseBlockShape shape{
        .in = channels, .layers = plan.layers[i], .growth = plan.growth, .drop_rate = drop_rate};
    features_->append("denseblock" + number, std::make_unique<DenseBlock>(shape, generator));
    channels = shape.out();
    if (i + 1 == plan.layers.size()) break;
    features_->append("transition" + number,
                      std::make_unique<DenseTransition>(channels, generator));
    channels /= 2;
  }
  return channels;
}

// torchvision's files are older than its names: they have a dot before the number of a layer.
std::vector<NameTable> DenseNet::name_tables() const {
  NameTable older{.library = Library::torchvision};
  for (const std::string layer : {"norm", "conv"})
    for (const std::string number : {"1", "2"})
      older.places.push_back({"features.denseblock*.denselayer*." + layer + number + ".",
                              "features.denseblock*.denselayer*." + layer + "." + number + "."});
  auto tables = same_names({Library::torchvision, Library::timm});
  tables.push_back(older);
  return tables;
}

void DenseNet::initialize_weights(const at::Generator& generator) {
  for (const auto& [path, module] : modules())
    if (const auto* convolution = dynamic_cast<Convolution*>(module))
      initialize::kaiming_normal(convolution->weight(), initialize::Fan::in, generator);
  initialize::constant(classifier_->bias(), 0);
}

Entry<Model> densenet_entry(std::string name, std::string doc, const DenseNetPlan& plan) {
  return entry<Model, DenseNetOptions>(
      std::move(name), std::move(doc),
      [plan](const DenseNetOptions& options, const ModelContext& context)
          -> std::unique_ptr<Model> { return std::make_unique<DenseNet>(plan, options, context); },
      {"batch_norm", "body", "convolves", "dropout", "takes_images"});
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
