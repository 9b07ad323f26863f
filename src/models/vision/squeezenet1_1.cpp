// torchvision.models.squeezenet1_1: SqueezeNet (Iandola et al. 2016) in its authors' faster second
// version.
#include <ATen/ops/cat.h>
#include <ATen/ops/relu.h>

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/image_options.h"

namespace ddptrain {
namespace {

/// [rows, in, ...] to [rows, 2 * expand, ...]: few channels, then a 1x1 and a 3x3 convolution of
/// them side by side.
class Fire final : public Module {
 public:
  Fire(std::int64_t in, std::int64_t squeeze, std::int64_t expand, const at::Generator& generator) {
    const ConvolutionShape narrow{.in = in, .out = squeeze, .bias = true};
    const ConvolutionShape point{.in = squeeze, .out = expand, .bias = true};
    const ConvolutionShape wide{
        .in = squeeze, .out = expand, .kernel = 3, .padding = 1, .bias = true};
    squeeze_ = make<Convolution>("squeeze", narrow, generator);
    expand1x1_ = make<Convolution>("expand1x1", point, generator);
    expand3x3_ = make<Convolution>("expand3x3", wide, generator);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    auto x = squeeze_->forward(input, pass);
    at::relu_(x);
    x = at::cat({expand1x1_->forward(x, pass), expand3x3_->forward(x, pass)}, 1);
    return at::relu_(x);
  }

 private:
  Convolution *squeeze_, *expand1x1_, *expand3x3_;
};

class SqueezeNet final : public Model {
 public:
  SqueezeNet(const ClassifierOptions& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return classifier_->forward(features_->forward(input, pass), pass);
  }
  /// Divided as fastai does.
  Body take_body() override { return take_features(5); }
  std::vector<NameTable> name_tables() const override { return same_names({Library::torchvision}); }

 private:
  void add_features(std::int64_t channels, const at::Generator& generator);
  void initialize_weights(const Convolution* last, const at::Generator& generator);

  Sequence* features_;
  Sequence* classifier_;
};

SqueezeNet::SqueezeNet(const ClassifierOptions& options, const ModelContext& context) {
  const auto& generator = context.generator;
  require_size(context, "squeezenet1_1", 17);
  features_ = make<Sequence>("features");
  add_features(channels_of(options.in_channels, context, 3), generator);
  classifier_ = make<Sequence>("classifier");
  classifier_->add<Dropout>(options.dropout);
  const ConvolutionShape shape{
      .in = 512, .out = classes_of(options.num_classes, context), .bias = true};
  const auto* last = classifier_->add<Convolution>(shape, generator);
  classifier_->add<Activate>(Activation::relu, Activate::Input::overwrite);
  classifier_->add<AdaptiveAveragePool>(1);
  classifier_->add<Flatten>();
  initialize_weights(last, generator);
}

void SqueezeNet::add_features(std::int64_t channels, const at::Generator& generator) {
  const auto halve = [&] {
    features_->add<MaxPool>(PoolWindow{.kernel = 3, .stride = 2, .ceil = true});
  };
  const ConvolutionShape first{.in = channels, .out = 64, .kernel = 3, .stride = 2, .bias = true};
  features_->add<Convolution>(first, generator);
  features_->add<Activate>(Activation::relu, Activate::Input::overwrite);
  halve();
  features_->add<Fire>(64, 16, 64, generator);
  features_->add<Fire>(128, 16, 64, generator);
  halve();
  features_->add<Fire>(128, 32, 128, generator);
  features_->add<Fire>(256, 32, 128, generator);
  halve();
  features_->add<Fire>(256, 48, 192, generator);
  features_->add<Fire>(384, 48, 192, generator);
  features_->add<Fire>(384, 64, 256, generator);
  features_->add<Fire>(512, 64, 256, generator);
}

void SqueezeNet::initialize_weights(const Convolution* last, const at::Generator& generator) {
  for (const auto& [path, module] : modules()) {
    const auto* convolution = dynamic_cast<Convolution*>(module);
    if (convolution == nullptr) continue;
    if (convolution == last)
      initialize::normal(convolution->weight(), 0.01, generator);
    else
      initialize::kaiming_uniform(convolution->weight(), 0, generator);
    initialize::constant(convolution->bias(), 0);
  }
}

}  // namespace

Entry<Model> squeezenet1_1_model() {
  return entry_of<Model, SqueezeNet, ClassifierOptions>(
      "squeezenet1_1", "SqueezeNet 1.1, as in torchvision.",
      {"body", "convolves", "dropout", "takes_images"});
}

}  // namespace ddptrain
