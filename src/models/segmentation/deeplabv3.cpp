// DeepLabV3 (Chen et al. 2017) of torchvision: deeplabv3_resnet50, deeplabv3_resnet101 and
// deeplabv3_mobilenet_v3_large, and on other bodies. Names, order and first weights are
// torchvision's.
#include <ATen/ops/cat.h>

#include "models/layers/convolution_norm.h"
#include "models/layers/dropout.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/segmentation/segmentation_model.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kFeatures = 256;

/// The mean over all places, as a map of one value in the size of its input.
class ImageFeatures final : public Sequence {
 public:
  ImageFeatures(std::int64_t in, const at::Generator& generator) {
    add<AdaptiveAveragePool>(1);
    add<Convolution>(ConvolutionShape{.in = in, .out = kFeatures}, generator);
    add<BatchNorm>(kFeatures);
    add_relu(*this);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return Sequence::forward(input, pass).expand({-1, -1, input.size(2), input.size(3)});
  }
};

/// Atrous spatial pyramid pooling: what convolutions of several dilations see, side by side.
class PyramidPooling final : public Module {
 public:
  PyramidPooling(std::int64_t in, const at::Generator& generator) {
    auto* all = make<Sequence>("convs");
    all->add<ConvolutionNorm>(ConvolutionNormShape{.in = in, .out = kFeatures, .kernel = 1},
                              generator);
    for (const std::int64_t dilation : {12, 24, 36})
      all->add<ConvolutionNorm>(
          ConvolutionNormShape{.in = in, .out = kFeatures, .dilation = dilation}, generator);
    all->add<ImageFeatures>(in, generator);
    convs_ = all->children();
    const auto together = static_cast<std::int64_t>(convs_.size()) * kFeatures;
    project_ = make<ConvolutionNorm>(
        "project", ConvolutionNormShape{.in = together, .out = kFeatures, .kernel = 1}, generator);
    project_->add<Dropout>(0.5);
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    std::vector<at::Tensor> seen;
    for (auto* each : convs_) seen.push_back(each->forward(input, pass));
    return project_->forward(at::cat(seen, 1), pass);
  }

 private:
  std::vector<Module*> convs_;
  ConvolutionNorm* project_;
};

// torchvision.models.segmentation.deeplabv3.DeepLabHead
std::unique_ptr<Sequence> deeplab_head(std::int64_t in, std::int64_t classes,
                                       const at::Generator& generator) {
  auto head = std::make_unique<Sequence>();
  head->add<PyramidPooling>(in, generator);
  head->add<Convolution>(
      ConvolutionShape{.in = kFeatures, .out = kFeatures, .kernel = 3, .padding = 1}, generator);
  head->add<BatchNorm>(kFeatures);
  add_relu(*head);
  head->add<Convolution>(ConvolutionShape{.in = kFeatures, .out = classes, .bias = true},
                         generator);
  return head;
}

}  // namespace

Entry<Model> deeplabv3_model() {
  return entry<Model, SegmentationOptions>(
      "deeplabv3",
      "A class of each pixel by convolutions of several dilations on the features of a body.",
      [](const SegmentationOptions& options, const ModelContext& context) {
        return segmentation_model(options, context, deeplab_head);
      },
      {"batch_norm", "classifies_pixels", "convolves", "dropout", "takes_images",
       "outputs classifier.4 aux_classifier.4", "varies_on_cuda"});
}

}  // namespace ddptrain
