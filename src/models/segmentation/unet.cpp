// fastai.vision.models.unet.DynamicUnet: a body, and blocks that enlarge its last features step by
// step and join them with those of each size on the way (Ronneberger et al. 2015). Names, order and
// first weights are fastai's.
#include <ATen/ops/cat.h>

#include "models/layers/lin_bn_drop.h"
#include "models/layers/pooling.h"
#include "models/model.h"
#include "models/segmentation/unet_block.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/xresnet_block.h"

namespace ddptrain {
namespace {

struct UnetOptions {
  Choice<Model> body;
  Auto<std::int64_t> num_classes;
  bool self_attention = false;
  bool blur = false;
  bool blur_final = true;
  bool last_cross = true;
  bool bottle = false;
  Activation activation = Activation::relu;
  std::vector<double> y_range;
  void fields(Fields& f) {
    f("body", body,
      {.doc = "The network whose layers before the pooling are taken.",
       .required = true,
       .example = "resnet34"});
    f("num_classes", num_classes,
      {.doc = "Outputs of each pixel; auto takes the data's classes.", .min = 1});
    f("self_attention", self_attention,
      {.doc = "Self-attention in the third block from the end, over the places of its features."});
    f("blur", blur,
      {.doc = "Each enlarged pixel becomes the mean of four, against checkerboards."});
    f("blur_final", blur_final, {.doc = "The blur of the last block too."});
    f("last_cross", last_cross, {.doc = "Concatenates the image itself with the last features."});
    f("bottle", bottle,
      {.doc = "Half the channels between the two convolutions behind last_cross, as fastai 1 has "
              "it; in fastai 2 the option fails."});
    f("activation", activation, {.doc = "Activation of every layer behind the body."});
    y_range_field(f, y_range);
    f.require(needs("bottle", "last_cross"));
  }
};

class Unet final : public Model {
 public:
  Unet(const UnetOptions& options, const ModelContext& context)
      : options_(options), generator_(context.generator), layers_(make<Sequence>("layers")) {
    auto body = body_of(options.body, context);
    names_ = std::move(body.names);
    tables_ = std::move(body.tables);
    groups_ = std::move(body.groups);
    body_ = body.layers.get();
    const auto images = image_channels(*body_);
    depths_ = depths_of(*body_, images);
    layers_->append(std::move(body.layers));
    add_middle(depths_.back().channels);
    const auto channels = add_end(add_blocks(), images);
    add_outputs(channels, classes_of(options.num_classes, context));
    const auto all = layers_->children();
    groups_.emplace_back(all.begin() + 1, all.end());
  }

  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  std::vector<std::vector<Module*>> layer_groups() override { return groups_; }
  std::map<std::string, std::string> borrowed_names() const override {
    return names_below("layers.0", names_);
  }
  std::vector<NameTable> name_tables() const override { return tables_; }
  std::vector<std::string> own_parts() const override {
    std::vector<std::string> parts;
    for (const auto* layer : layers_->children())
      if (layer != body_ && !layer->named_parameters().empty()) parts.push_back(layer->path());
    return parts;
  }

 private:
  void add_middle(std::int64_t channels);
  std::int64_t add_blocks();
  std::int64_t add_end(std::int64_t channels, std::int64_t images);
  void add_outputs(std::int64_t channels, std::int64_t classes);

  UnetOptions options_;
  at::Generator generator_;
  Sequence* layers_;
  Sequence* body_;
  std::vector<Depth> depths_;
  std::vector<Module*> middle_;
  std::vector<UnetBlock*> blocks_;
  Module* enlarge_ = nullptr;  // null: the last block gives the image's size
  Module* cross_ = nullptr;    // null: without the image
  std::vector<Module*> end_;
  std::map<std::string, std::string> names_;
  std::vector<NameTable> tables_;
  std::vector<std::vector<Module*>> groups_;
};

void Unet::add_middle(std::int64_t channels) {
  layers_->append(fastai_norm(channels));
  add_relu(*layers_);
  auto* middle = layers_->add<Sequence>();
  middle->append(unet_convolution(channels, 2 * channels, options_.activation, generator_));
  middle->append(unet_convolution(2 * channels, channels, options_.activation, generator_));
  const auto all = layers_->children();
  middle_.assign(all.begin() + 1, all.end());
}

/// One for each depth above the last, from small features to large ones; the channels that come
/// out.
std::int64_t Unet::add_blocks() {
  auto channels = depths_.back().channels;
  const auto count = depths_.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const UnetBlockShape shape{.in = channels,
                               .skip = depths_[count - 1 - i].channels,
                               .last = last,
                               .blur = options_.blur && (!last || options_.blur_final),
                               .self_attention = options_.self_attention && i + 3 == count,
                               .activation = options_.activation};
    blocks_.push_back(layers_->add<UnetBlock>(shape, generator_));
    channels = shape.out();
  }
  return channels;
}

/// What gives the image's size, and the image next to it; the channels that come out. The layers
/// that fastai has for the size and for the image have no names here but their numbers.
std::int64_t Unet::add_end(std::int64_t channels, std::int64_t images) {
  if (depths_.front().reduction > 1)
    enlarge_ = layers_->append(pixel_shuffle_icnr(
        {.in = channels, .out = channels, .activation = options_.activation}, generator_));
  layers_->add<Identity>();
  if (!options_.last_cross) return channels;
  layers_->add<Identity>();
  channels += images;
  auto* block = layers_->add<XBlock>(XBlockShape{.ni = channels,
                                                 .nf = channels,
                                                 .nh1 = channels,
                                                 .nh2 = options_.bottle ? channels / 2 : channels,
                                                 .norms = false,
                                                 .activation = options_.activation},
                                     generator_);
  initialize_as_in_a_unet(*block, generator_);
  cross_ = block;
  return channels;
}

void Unet::add_outputs(std::int64_t channels, std::int64_t classes) {
  const auto before = layers_->children().size();
  layers_->append(conv_layer({.in = channels, .out = classes, .norm = ConvLayerShape::Norm::none},
                             Activation::none, generator_));
  add_range(*layers_, options_.y_range);
  const auto all = layers_->children();
  end_.assign(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
}

at::Tensor Unet::forward(const at::Tensor& input, const Pass& pass) {
  auto features = features_at(depths_, *body_, input, pass);
  auto x = std::move(features.back());
  for (auto* step : middle_) x = step->forward(x, pass);
  for (auto* block : blocks_) {
    features.pop_back();
    x = block->join(x, features.at(features.size() - 1), pass);
  }
  x = resized_to(enlarge_ == nullptr ? x : enlarge_->forward(x, pass), input);
  if (cross_ != nullptr) x = cross_->forward(at::cat({x, input.to(x.scalar_type())}, 1), pass);
  for (auto* step : end_) x = step->forward(x, pass);
  return x;
}

}  // namespace

Entry<Model> unet_model() {
  return entry_of<Model, Unet, UnetOptions>(
      "unet", "A class of each pixel by fastai's U-Net on the body of a network: for segmentation.",
      {"batch_norm", "classifies_pixels", "convolves", "takes_images"});
}

}  // namespace ddptrain
