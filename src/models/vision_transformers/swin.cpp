// swin_t, swin_s, swin_b. Swin transformers of torchvision (Liu et al. 2021). Names, order and
// first weights are torchvision's.
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <fmt/format.h>

#include <array>
#include <numeric>
#include <string>

#include "models/layers/channels.h"
#include "models/layers/initialize.h"
#include "models/model.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision/image_options.h"
#include "models/vision_transformers/swin_block.h"

namespace ddptrain {
namespace {

constexpr std::int64_t patch_size = 4, window = 7;
constexpr std::size_t stage_count = 4;

struct SwinPlan {
  std::int64_t features = 96;  // of the first stage
  std::array<std::int64_t, stage_count> blocks, heads;
};

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

struct SwinSOptions : SwinOptions {
  SwinSOptions() { stochastic_depth_prob = 0.3; }
};

struct SwinBOptions : SwinOptions {
  SwinBOptions() { stochastic_depth_prob = 0.5; }
};

class Swin final : public Model {
 public:
  Swin(const SwinPlan& plan, const SwinOptions& options, const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  Body take_body() override;
  std::vector<NameTable> name_tables() const override;

 private:
  void add_stem(std::int64_t channels, const at::Generator& generator);
  void add_stages(const SwinOptions& options, const at::Generator& generator);
  void initialize_weights(const at::Generator& generator);

  SwinPlan plan_;
  Sequence* features_;
  LayerNorm* norm_;
  Linear* head_;
};

Swin::Swin(const SwinPlan& plan, const SwinOptions& options, const ModelContext& context)
    : plan_(plan) {
  const auto& generator = context.generator;
  const auto last_features = plan.features << (stage_count - 1);
  features_ = make<Sequence>("features");
  add_stem(channels_of(options.image.in_channels, context, 3), generator);
  add_stages(options, generator);
  norm_ = make<LayerNorm>("norm", last_features);
  head_ = make<Linear>("head", last_features, classes_of(options.image.num_classes, context),
                       generator);
  initialize_weights(generator);
}

void Swin::add_stem(std::int64_t channels, const at::Generator& generator) {
  const ConvolutionShape shape{.in = channels,
                               .out = plan_.features,
                               .kernel = patch_size,
                               .stride = patch_size,
                               .bias = true};
  auto* stem = features_->add<Sequence>();
  stem->add<Convolution>(shape, generator);
  stem->add<ChannelsToEnd>();
  stem->add<LayerNorm>(plan_.features);
}

void Swin::add_stages(const SwinOptions& options, const at::Generator& generator) {
  SwinBlockShape shape;
  shape.attention.window = window;
  shape.attention.attention_dropout = options.attention_dropout;
  shape.attention.dropout = options.dropout;
  const auto last = std::accumulate(plan_.blocks.begin(), plan_.blocks.end(), std::int64_t{-1});
  std::int64_t before = 0;
  for (std::size_t i = 0; i < stage_count; ++i) {
    const auto features = plan_.features << i;
    if (i > 0) features_->add<PatchMerging>(features / 2, generator);
    auto* stage = features_->add<Sequence>();
    shape.attention.features = features;
    shape.attention.heads = plan_.heads[i];
    shape.hidden = 4 * features;
    for (std::int64_t block = 0; block < plan_.blocks[i]; ++block, ++before) {
      shape.attention.shift = block % 2 == 0 ? 0 : window / 2;
      shape.stochastic_depth =
          options.stochastic_depth_prob * static_cast<double>(before) / static_cast<double>(last);
      stage->add<SwinBlock>(shape, generator);
    }
  }
}

void Swin::initialize_weights(const at::Generator& generator) {
  for (const auto& [path, module] : modules())
    if (const auto* linear = dynamic_cast<Linear*>(module)) {
      initialize::truncated_normal(linear->weight(), 0.02, generator);
      if (linear->bias().defined()) initialize::constant(linear->bias(), 0);
    }
}

at::Tensor Swin::forward(const at::Tensor& input, const Pass& pass) {
  const auto map = norm_->forward(features_->forward(input, pass), pass);
  const auto means = at::adaptive_avg_pool2d(map.permute({0, 3, 1, 2}), {1, 1});
  return head_->forward(means.flatten(1), pass);
}

// The map of the last stage after its norm, channels first.
Body Swin::take_body() {
  Body body;
  body.append("features", release_child("features"));
  body.append("norm", release_child("norm"));
  body.layers->add<ChannelsToFront>();
  body.groups = {body.layers->children()};
  body.channels = plan_.features << (stage_count - 1);
  return body;
}

/// Names of timm, or of the authors' files, which join patches at the end of the stage before.
NameTable timm_names(const std::string& head, int stage_of_merging) {
  NameTable table{.library = Library::timm,
                  .places = {{"features.0.0.", "patch_embed.proj."},
                             {"features.0.2.", "patch_embed.norm."},
                             {"head.", head}},
                  .parts = {{"mlp.0.", "mlp.fc1."}, {"mlp.3.", "mlp.fc2."}},
                  .computed = {"relative_position_index", "attn_mask"}};
  for (int stage = 0; stage < static_cast<int>(stage_count); ++stage) {
    table.places.push_back(
        {fmt::format("features.{}.*.", 2 * stage + 1), fmt::format("layers.{}.blocks.*.", stage)});
    if (stage > 0)
      table.places.push_back({fmt::format("features.{}.", 2 * stage),
                              fmt::format("layers.{}.downsample.", stage - 1 + stage_of_merging)});
  }
  return table;
}

std::vector<NameTable> Swin::name_tables() const {
  return {{.library = Library::torchvision}, timm_names("head.fc.", 1), timm_names("head.", 0)};
}

template <class Options>
Entry<Model> swin_entry(std::string name, std::string doc, const SwinPlan& plan) {
  return entry<Model, Options>(
      std::move(name), std::move(doc),
      [plan](const Options& options, const ModelContext& context) -> std::unique_ptr<Model> {
        return std::make_unique<Swin>(plan, options, context);
      },
      {"blocks", "dropout", "lends_features", "takes_images"});
}

}  // namespace

Entry<Model> swin_t_model() {
  return swin_entry<SwinOptions>(
      "swin_t", "Tiny Swin transformer, attention in shifted windows, as in torchvision.",
      {.features = 96, .blocks = {2, 2, 6, 2}, .heads = {3, 6, 12, 24}});
}

Entry<Model> swin_s_model() {
  return swin_entry<SwinSOptions>(
      "swin_s", "Small Swin transformer, attention in shifted windows, as in torchvision.",
      {.features = 96, .blocks = {2, 2, 18, 2}, .heads = {3, 6, 12, 24}});
}

Entry<Model> swin_b_model() {
  return swin_entry<SwinBOptions>(
      "swin_b", "Base Swin transformer, attention in shifted windows, as in torchvision.",
      {.features = 128, .blocks = {2, 2, 18, 2}, .heads = {4, 8, 16, 32}});
}

}  // namespace ddptrain
