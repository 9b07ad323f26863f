// vgg11, vgg16_bn. The VGG networks of torchvision (Simonyan and Zisserman 2015): five stages of
// 3x3 convolutions, each halved at its end, then three linear layers. Names, order and first
// weights are torchvision's.
#include <ATen/ops/adaptive_avg_pool2d.h>

#include <array>
#include <string>

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/initialize.h"
#include "models/layers/norm.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/image_options.h"

namespace ddptrain {
namespace {

struct VggPlan {
  std::array<std::int64_t, 5> convolutions = {1, 1, 2, 2, 2};  // of each stage
  bool batch_norm = false;
};

class Vgg final : public Model {
 public:
  Vgg(const VggPlan& plan, const ClassifierOptions& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  /// Divided as fastai does, which knows no division without batch norm.
  Body take_body() override { return take_features(has_norms_ ? 22 : 0); }
  std::vector<NameTable> name_tables() const override;

 private:
  static constexpr std::int64_t left = 7;  // height and width that the classifier sees
  void add_features(const VggPlan& plan, std::int64_t channels, const at::Generator& generator);
  void add_classifier(double dropout, std::int64_t classes, const at::Generator& generator);
  void initialize_weights(const at::Generator& generator);

  bool has_norms_;
  Sequence* features_;
  Sequence* classifier_;
};

Vgg::Vgg(const VggPlan& plan, const ClassifierOptions& options, const ModelContext& context)
    : has_norms_(plan.batch_norm) {
  require_size(context, "vgg", 32);
  features_ = make<Sequence>("features");
  add_features(plan, channels_of(options.in_channels, context, 3), context.generator);
  classifier_ = make<Sequence>("classifier");
  add_classifier(options.dropout, classes_of(options.num_classes, context), context.generator);
  initialize_weights(context.generator);
}

void Vgg::add_features(const VggPlan& plan, std::int64_t channels, const at::Generator& generator) {
  constexpr std::array<std::int64_t, 5> widths = {64, 128, 256, 512, 512};
  for (std::size_t stage = 0; stage < widths.size(); ++stage) {
    for (std::int64_t i = 0; i < plan.convolutions[stage]; ++i) {
      const ConvolutionShape shape{
          .in = channels, .out = widths[stage], .kernel = 3, .padding = 1, .bias = true};
      features_->add<Convolution>(shape, generator);
      if (plan.batch_norm) features_->add<BatchNorm>(widths[stage]);
      add_relu(*features_);
      channels = widths[stage];
    }
    features_->add<MaxPool>(PoolWindow{});
  }
}

void Vgg::add_classifier(double dropout, std::int64_t classes, const at::Generator& generator) {
  classifier_->add<Linear>(512 * left * left, 4096, generator);
  add_relu(*classifier_);
  classifier_->add<Dropout>(dropout);
  classifier_->add<Linear>(4096, 4096, generator);
  add_relu(*classifier_);
  classifier_->add<Dropout>(dropout);
  classifier_->add<Linear>(4096, classes, generator);
}

void Vgg::initialize_weights(const at::Generator& generator) {
  for (const auto& [path, module] : modules()) {
    if (const auto* convolution = dynamic_cast<Convolution*>(module)) {
      initialize::kaiming_normal(convolution->weight(), initialize::Fan::out, generator);
      initialize::constant(convolution->bias(), 0);
    } else if (const auto* linear = dynamic_cast<Linear*>(module)) {
      initialize::normal(linear->weight(), 0.01, generator);
      initialize::constant(linear->bias(), 0);
    }
  }
}

std::vector<NameTable> Vgg::name_tables() const {
  const NameTable timm{.library = Library::timm,
                       .places = {{"classifier.0.", "pre_logits.fc1.", FormThere::kernel7},
                                  {"classifier.3.", "pre_logits.fc2.", FormThere::kernel1},
                                  {"classifier.6.", "head.fc."}}};
  return {{.library = Library::torchvision}, timm};
}

at::Tensor Vgg::forward(const at::Tensor& input, const Pass& pass) {
  const auto x = at::adaptive_avg_pool2d(features_->forward(input, pass), {left, left});
  return classifier_->forward(x.flatten(1), pass);
}

Entry<Model> vgg_entry(std::string name, std::string doc, const VggPlan& plan) {
  std::vector<std::string> traits = {"body", "convolves", "dropout", "takes_images",
                                     "varies_on_cuda"};
  if (plan.batch_norm) traits.emplace_back("batch_norm");
  return entry<Model, ClassifierOptions>(
      std::move(name), std::move(doc),
      [plan](const ClassifierOptions& options, const ModelContext& context)
          -> std::unique_ptr<Model> { return std::make_unique<Vgg>(plan, options, context); },
      std::move(traits));
}

}  // namespace

Entry<Model> vgg11_model() {
  return vgg_entry("vgg11", "VGG with 11 layers, as in torchvision.",
                   {.convolutions = {1, 1, 2, 2, 2}});
}

Entry<Model> vgg16_bn_model() {
  return vgg_entry("vgg16_bn", "VGG with 16 layers and batch norm, as in torchvision.",
                   {.convolutions = {2, 2, 3, 3, 3}, .batch_norm = true});
}

}  // namespace ddptrain
