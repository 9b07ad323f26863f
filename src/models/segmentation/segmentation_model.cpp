#include "models/segmentation/segmentation_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/zeros.h>

#include "models/layers/activation.h"
#include "models/layers/convolution.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/sizes.h"
#include "models/vision/body.h"

namespace ddptrain {
namespace {

/// With dilation where it can, whatever the body's own option says.
Choice<Model> network_of(const SegmentationOptions& options) {
  const auto* entry = catalog<Model>().find(options.body.type());
  if (!options.dilated || !entry->has("dilates")) return options.body;
  auto node = options.body.node();
  node.set("dilated", Node::scalar("true"));
  Choice<Model> network;
  network.choose(std::move(node));
  return network;
}

/// The network's name of a part of its body, "layer1", or its number where it has no weights.
std::string name_of_step(const std::map<std::string, std::string>& names, std::size_t step) {
  const auto number = std::to_string(step);
  for (const auto& [theirs, ours] : names)
    if (ours == number + ".") return theirs.substr(0, theirs.size() - 1);
  return number;
}

/// The steps of a body by the names that they have in their network, and not in a chain within.
std::unique_ptr<Sequence> named_steps(Body& body) {
  auto steps = body.layers->release();
  if (steps.size() == 1)
    if (auto* chain = dynamic_cast<Sequence*>(steps.front().get())) {
      for (auto& [theirs, ours] : body.names) ours.clear();
      steps.front().release();
      return std::unique_ptr<Sequence>(chain);
    }
  auto named = std::make_unique<Sequence>();
  for (std::size_t i = 0; i < steps.size(); ++i)
    named->append(name_of_step(body.names, i), std::move(steps[i]));
  for (auto& [theirs, ours] : body.names) ours = theirs;
  return named;
}

/// The last step of the features that are next to the smallest ones.
std::size_t step_before_the_last_size(Sequence& layers) {
  const auto depths = depths_of(layers, image_channels(layers));
  return depths.size() > 1 ? depths[depths.size() - 2].step : depths.back().step;
}

class SegmentationModel final : public Model {
 public:
  SegmentationModel(const SegmentationOptions& options, const ModelContext& context,
                    PixelHead* head)
      : aux_weight_(options.aux_loss) {
    auto body = body_of(network_of(options), context);
    groups_ = std::move(body.groups);
    backbone_ = child("backbone", named_steps(body));
    names_ = std::move(body.names);
    tables_ = std::move(body.tables);
    find_depths(body.middle);
    add_heads(classes_of(options.num_classes, context), context.generator, head);
  }

  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    const auto features = features_at(depths_, *backbone_, input, pass);
    if (aux_classifier_ != nullptr && pass.auxiliary != nullptr)
      pass.auxiliary->add(scores(*aux_classifier_, features.front(), input, pass), aux_weight_);
    return scores(*classifier_, features.back(), input, pass);
  }
  std::vector<std::vector<Module*>> layer_groups() override { return groups_; }
  std::map<std::string, std::string> borrowed_names() const override {
    return names_below("backbone", names_);
  }
  std::vector<NameTable> name_tables() const override { return tables_; }
  std::vector<std::string> own_parts() const override {
    if (aux_classifier_ == nullptr) return {"classifier"};
    return {"classifier", "aux_classifier"};
  }

 private:
  void find_depths(const std::optional<std::size_t>& middle);
  void add_heads(std::int64_t classes, const at::Generator& generator, PixelHead* head);
  static at::Tensor scores(Sequence& head, const at::Tensor& features, const at::Tensor& image,
                           const Pass& pass) {
    return at::upsample_bilinear2d(head.forward(features, pass), image.sizes().slice(2), false);
  }

  double aux_weight_;
  Sequence* backbone_;
  Sequence* classifier_ = nullptr;
  Sequence* aux_classifier_ = nullptr;  // null: none
  std::vector<Depth> depths_;           // of the auxiliary head where there is one, and of the head
  std::map<std::string, std::string> names_;
  std::vector<NameTable> tables_;
  std::vector<std::vector<Module*>> groups_;
};

void SegmentationModel::find_depths(const std::optional<std::size_t>& middle) {
  if (aux_weight_ > 0)
    depths_.push_back({.step = middle ? *middle : step_before_the_last_size(*backbone_)});
  depths_.push_back({.step = backbone_->children().size() - 1});
  const at::NoGradGuard no_grad;
  const auto image = at::zeros({1, image_channels(*backbone_), 64, 64});
  const auto features = features_at(depths_, *backbone_, image, Pass{});
  for (std::size_t i = 0; i < depths_.size(); ++i) depths_[i].channels = features[i].size(1);
}

// torchvision draws the auxiliary head first and names it last.
void SegmentationModel::add_heads(std::int64_t classes, const at::Generator& generator,
                                  PixelHead* head) {
  auto auxiliary =
      aux_weight_ > 0 ? fcn_head(depths_.front().channels, classes, generator) : nullptr;
  classifier_ = child("classifier", head(depths_.back().channels, classes, generator));
  groups_.push_back({classifier_});
  if (auxiliary == nullptr) return;
  aux_classifier_ = child("aux_classifier", std::move(auxiliary));
  groups_.back().push_back(aux_classifier_);
}

}  // namespace

void SegmentationOptions::fields(Fields& f) {
  f("body", body,
    {.doc = "The network whose layers before the pooling are taken.",
     .required = true,
     .example = "resnet50"});
  f("num_classes", num_classes,
    {.doc = "Outputs of each pixel; auto takes the data's classes.", .min = 1});
  f("dilated", dilated,
    {.doc = "The body's last stages keep the size of their features and dilate their convolutions, "
            "where it can (resnet50 and larger, mobilenet_v3)."});
  f("aux_loss", aux_loss,
    {.doc = "Weight of the loss of a second head on features in the middle of the body; 0: there "
            "is none. torchvision trains with 0.5.",
     .min = 0});
}

std::unique_ptr<Model> segmentation_model(const SegmentationOptions& options,
                                          const ModelContext& context, PixelHead* head) {
  return std::make_unique<SegmentationModel>(options, context, head);
}

std::unique_ptr<Sequence> fcn_head(std::int64_t in, std::int64_t classes,
                                   const at::Generator& generator) {
  const auto inside = in / 4;
  auto head = std::make_unique<Sequence>();
  head->add<Convolution>(ConvolutionShape{.in = in, .out = inside, .kernel = 3, .padding = 1},
                         generator);
  head->add<BatchNorm>(inside);
  add_relu(*head);
  head->add<Dropout>(0.1);
  head->add<Convolution>(ConvolutionShape{.in = inside, .out = classes, .bias = true}, generator);
  return head;
}

}  // namespace ddptrain
