// torchvision.models.alexnet: the network of "One weird trick" (Krizhevsky 2014).
#include <ATen/ops/adaptive_avg_pool2d.h>

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/image_options.h"

namespace ddptrain {
namespace {

class AlexNet final : public Model {
 public:
  AlexNet(const ClassifierOptions& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  /// Divided as fastai does.
  Body take_body() override { return take_features(6); }
  std::vector<NameTable> name_tables() const override { return same_names({Library::torchvision}); }

 private:
  static constexpr std::int64_t left = 6;  // height and width that the classifier sees
  void add_features(std::int64_t channels, const at::Generator& generator);
  void add_classifier(double dropout, std::int64_t classes, const at::Generator& generator);

  Sequence* features_;
  Sequence* classifier_;
};

AlexNet::AlexNet(const ClassifierOptions& options, const ModelContext& context) {
  require_size(context, "alexnet", 63);
  features_ = make<Sequence>("features");
  add_features(channels_of(options.in_channels, context, 3), context.generator);
  classifier_ = make<Sequence>("classifier");
  add_classifier(options.dropout, classes_of(options.num_classes, context), context.generator);
}

void AlexNet::add_features(std::int64_t channels, const at::Generator& generator) {
  const auto convolution = [&](ConvolutionShape shape) {
    shape.bias = true;
    features_->add<Convolution>(shape, generator);
    add_relu(*features_);
  };
  const auto halve = [&] { features_->add<MaxPool>(PoolWindow{.kernel = 3, .stride = 2}); };
  convolution({.in = channels, .out = 64, .kernel = 11, .stride = 4, .padding = 2});
  halve();
  convolution({.in = 64, .out = 192, .kernel = 5, .padding = 2});
  halve();
  convolution({.in = 192, .out = 384, .kernel = 3, .padding = 1});
  convolution({.in = 384, .out = 256, .kernel = 3, .padding = 1});
  convolution({.in = 256, .out = 256, .kernel = 3, .padding = 1});
  halve();
}

void AlexNet::add_classifier(double dropout, std::int64_t classes, const at::Generator& generator) {
  classifier_->add<Dropout>(dropout);
  classifier_->add<Linear>(256 * left * left, 4096, generator);
  add_relu(*classifier_);
  classifier_->add<Dropout>(dropout);
  classifier_->add<Linear>(4096, 4096, generator);
  add_relu(*classifier_);
  classifier_->add<Linear>(4096, classes, generator);
}

at::Tensor AlexNet::forward(const at::Tensor& input, const Pass& pass) {
  const auto x = at::adaptive_avg_pool2d(features_->forward(input, pass), {left, left});
  return classifier_->forward(x.flatten(1), pass);
}

}  // namespace

Entry<Model> alexnet_model() {
  return entry_of<Model, AlexNet, ClassifierOptions>(
      "alexnet", "AlexNet, as in torchvision.",
      {"body", "convolves", "dropout", "takes_images", "varies_on_cuda"});
}

}  // namespace ddptrain
