// torchvision.models.swin_t.
#include <ATen/ops/adaptive_avg_pool2d.h>

#include <array>

#include "models/layers/channels.h"
#include "models/layers/initialise.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/image_options.h"
#include "models/vision/swin_block.h"

namespace ddptrain {
namespace {

constexpr std::int64_t patch_size = 4, first_features = 96, window = 7;
constexpr std::size_t stage_count = 4;
constexpr std::array<std::int64_t, stage_count> blocks_of_stage = {2, 2, 6, 2},
                                                heads_of_stage = {3, 6, 12, 24};
constexpr std::int64_t all_blocks = 12;

struct SwinOptions {
  ImageOptions image;
  double dropout = 0;
  double attention_dropout = 0;
  double stochastic_depth_prob = 0.2;
  void fields(Fields& f) {
    image.fields(f);
    f("dropout", dropout,
      {.doc = "Probability of dropping each element that a linear layer of a block makes.",
       .min = 0,
       .max = 1});
    f("attention_dropout", attention_dropout,
      {.doc = "Probability of dropping each attention weight.", .min = 0, .max = 1});
    f("stochastic_depth_prob", stochastic_depth_prob,
      {.doc = "Probability of dropping a row's branch in the last block; 0 in the first.",
       .min = 0,
       .max = 1});
  }
};

/// [rows, channels, height, width] to [rows, height, width, channels].
class SwinT final : public Model {
 public:
  SwinT(const SwinOptions& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;

 private:
  void add_stem(std::int64_t channels, const at::Generator& generator);
  void add_stages(const SwinOptions& options, const at::Generator& generator);
  void initialise_weights(const at::Generator& generator);

  Sequence* features_;
  LayerNorm* norm_;
  Linear* head_;
};

SwinT::SwinT(const SwinOptions& options, const ModelContext& context) {
  const auto& generator = context.generator;
  constexpr auto last_features = first_features << (stage_count - 1);
  features_ = make<Sequence>("features");
  add_stem(channels_of(options.image.in_channels, context, 3), generator);
  add_stages(options, generator);
  norm_ = make<LayerNorm>("norm", last_features);
  head_ = make<Linear>("head", last_features, classes_of(options.image.num_classes, context),
                       generator);
  initialise_weights(generator);
}

void SwinT::add_stem(std::int64_t channels, const at::Generator& generator) {
  const ConvolutionShape shape{.in = channels,
                               .out = first_features,
                               .kernel = patch_size,
                               .stride = patch_size,
                               .bias = true};
  auto* stem = features_->add<Sequence>();
  stem->add<Convolution>(shape, generator);
  stem->add<ChannelsToEnd>();
  stem->add<LayerNorm>(first_features);
}

void SwinT::add_stages(const SwinOptions& options, const at::Generator& generator) {
  SwinBlockShape shape;
  shape.attention.window = window;
  shape.attention.attention_dropout = options.attention_dropout;
  shape.attention.dropout = options.dropout;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < stage_count; ++i) {
    const auto features = first_features << i;
    if (i > 0) features_->add<PatchMerging>(features / 2, generator);
    auto* stage = features_->add<Sequence>();
    shape.attention.features = features;
    shape.attention.heads = heads_of_stage[i];
    shape.hidden = 4 * features;
    for (std::int64_t block = 0; block < blocks_of_stage[i]; ++block, ++before) {
      shape.attention.shift = block % 2 == 0 ? 0 : window / 2;
      shape.stochastic_depth =
          options.stochastic_depth_prob * static_cast<double>(before) / (all_blocks - 1);
      stage->add<SwinBlock>(shape, generator);
    }
  }
}

void SwinT::initialise_weights(const at::Generator& generator) {
  for (const auto& [path, module] : modules())
    if (const auto* linear = dynamic_cast<Linear*>(module)) {
      initialise::truncated_normal(linear->weight(), 0.02, generator);
      if (linear->bias().defined()) initialise::constant(linear->bias(), 0);
    }
}

at::Tensor SwinT::forward(const at::Tensor& input, const Pass& pass) {
  const auto map = norm_->forward(features_->forward(input, pass), pass);
  const auto means = at::adaptive_avg_pool2d(map.permute({0, 3, 1, 2}), {1, 1});
  return head_->forward(means.flatten(1), pass);
}

}  // namespace

Entry<Model> swin_t_model() {
  return entry<Model, SwinOptions>(
      "swin_t", "Tiny Swin transformer, attention in shifted windows, as in torchvision.",
      [](const SwinOptions& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<SwinT>(options, context);
      },
      {"dropout", "takes_images"});
}

}  // namespace ddptrain
