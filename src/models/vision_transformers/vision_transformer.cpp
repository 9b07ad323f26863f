#include "models/vision_transformers/vision_transformer.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/names.h"
#include "models/layers/convolution.h"
#include "models/layers/initialize.h"
#include "models/sizes.h"
#include "models/vision/body.h"
#include "models/vision_transformers/attention_pool.h"
#include "models/vision_transformers/vision_encoder.h"

namespace ddptrain {
namespace {

constexpr double register_deviation = 1e-6;  // timm's

std::string by(std::int64_t height, std::int64_t width) {
  return fmt::format("{} x {}", height, width);
}

std::int64_t image_size_of(const Auto<std::int64_t>& written, const ModelContext& context) {
  if (!written.automatic()) return *written.value;
  if (context.data.sample.size() != 3) return 224;
  const auto height = context.data.sample[1], width = context.data.sample[2];
  if (height == width) return height;
  throw Error(Exit::recipe, Option{"model.image_size"},
              "images must be square, the data's are {}; resize or crop them", by(height, width));
}

void require_whole(const VisionTransformerPlan& plan, std::int64_t image_size) {
  if (image_size % plan.patch_size != 0)
    throw Error(Exit::recipe, Option{"model.image_size"},
                "images of {} cannot be cut into patches of {}", by(image_size, image_size),
                by(plan.patch_size, plan.patch_size));
}

// trunc_normal_ by the numbers that flow into an output, and no bias.
void initialize_by_fan(const at::Tensor& weight, const at::Tensor& bias,
                       const at::Generator& generator) {
  const auto fan = static_cast<double>(initialize::fan_in(weight));
  initialize::truncated_normal(weight, std::sqrt(1 / fan), generator);
  if (bias.defined()) initialize::constant(bias, 0);
}

/// Handles to what turns images into features; the module that has them owns them.
struct VisionTower {
  std::int64_t image_size = 0;
  std::vector<NamedTensor> tokens;  // before the patches: [1, n, features]
  Convolution* conv_proj = nullptr;
  VisionEncoder* encoder = nullptr;
  AttentionPool* pool = nullptr;  // null: the class token
  bool distilled = false;

  /// [rows, places, features] after the last norm, row by row of an image.
  at::Tensor encoded(const at::Tensor& images, const Pass& pass) const {
    if (images.size(2) != image_size || images.size(3) != image_size)
      throw Error(Exit::recipe, Option{"model.image_size"},
                  "the network takes images of {}, not of {}", by(image_size, image_size),
                  by(images.size(2), images.size(3)));
    std::vector<at::Tensor> before;
    for (const auto& token : tokens)
      before.push_back(token.tensor.expand({images.size(0), -1, -1}));
    const auto patches = conv_proj->forward(images, pass).flatten(2).transpose(1, 2);
    const auto joined = before.size() > 1 ? at::cat(before, 1)
                        : before.empty()  ? at::Tensor()
                                          : before.front();
    return encoder->encode(joined, patches, pass);
  }
  /// [rows, features]
  at::Tensor features(const at::Tensor& images, const Pass& pass) const {
    const auto x = encoded(images, pass);
    if (pool != nullptr) return pool->forward(x, pass);
    return distilled ? x.select(1, 0).add(x.select(1, 1)).div(2) : x.select(1, 0);
  }
};

/// What a vision transformer is without its heads.
class VisionBody final : public Module {
 public:
  VisionBody(VisionTower tower, std::vector<std::pair<std::string, std::unique_ptr<Module>>> parts)
      : tower_(std::move(tower)) {
    for (const auto& [name, tensor] : tower_.tokens) parameter(name, tensor);
    for (auto& [name, module] : parts) child(name, std::move(module));
  }
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    return tower_.features(input, pass);
  }

 private:
  VisionTower tower_;
};

class VisionTransformer final : public Model {
 public:
  VisionTransformer(const VisionTransformerPlan& plan, const VisionTransformerOptions& options,
                    const ModelContext& context);
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  Body take_body() override;
  std::vector<NameTable> name_tables() const override;
  std::string patch_positions() const override { return "encoder.pos_embedding"; }

 private:
  void add_tokens();
  void add_tower(const VisionTransformerOptions& options, const ModelContext& context);
  void add_heads(const std::optional<std::int64_t>& representation, std::int64_t classes,
                 const at::Generator& generator);

  VisionTransformerPlan plan_;
  VisionTower tower_;
  Sequence* heads_ = nullptr;
  Linear* head_dist_ = nullptr;  // null: not distilled
};

VisionTransformer::VisionTransformer(const VisionTransformerPlan& plan,
                                     const VisionTransformerOptions& options,
                                     const ModelContext& context)
    : plan_(plan) {
  tower_.image_size = image_size_of(options.image_size, context);
  tower_.distilled = plan.distilled;
  require_whole(plan, tower_.image_size);
  add_tokens();
  add_tower(options, context);
  add_heads(options.representation_size, classes_of(options.image.num_classes, context),
            context.generator);
}

void VisionTransformer::add_tokens() {
  const auto add = [&](const std::string& name, std::int64_t count) {
    tower_.tokens.push_back({name, parameter(name, at::zeros({1, count, plan_.hidden_dim}))});
  };
  if (plan_.pool == VisionPool::class_token) add("class_token", 1);
  if (plan_.distilled) add("distillation_token", 1);
  if (plan_.registers > 0) add("registers", plan_.registers);
}

void VisionTransformer::add_tower(const VisionTransformerOptions& options,
                                  const ModelContext& context) {
  const auto& generator = context.generator;
  const ConvolutionShape patch{.in = channels_of(options.image.in_channels, context, 3),
                               .out = plan_.hidden_dim,
                               .kernel = plan_.patch_size,
                               .stride = plan_.patch_size,
                               .bias = !plan_.pre_norm};
  tower_.conv_proj = make<Convolution>("conv_proj", patch, generator);
  const auto side = tower_.image_size / plan_.patch_size;
  const VisionEncoderShape shape{
      .places = side * side + (plan_.class_positions ? plan_.tokens() : 0),
      .layers = plan_.num_layers,
      .heads = plan_.num_heads,
      .features = plan_.hidden_dim,
      .hidden = plan_.mlp_dim,
      .dropout = options.dropout,
      .attention_dropout = options.attention_dropout,
      .layer_scale = plan_.layer_scale,
      .pre_norm = plan_.pre_norm,
      .activation = plan_.activation,
      .norm_eps = plan_.norm_eps};
  tower_.encoder = make<VisionEncoder>("encoder", shape, generator);
  const AttentionPoolShape pool{
      .heads = plan_.num_heads,
      .mlp = {plan_.hidden_dim, plan_.mlp_dim, options.dropout, plan_.activation},
      .norm_eps = plan_.norm_eps};
  if (plan_.pool == VisionPool::attention)
    tower_.pool = make<AttentionPool>("pool", pool, generator);
}

// torchvision draws the last weights of the patches after the heads are made.
void VisionTransformer::add_heads(const std::optional<std::int64_t>& representation,
                                  std::int64_t classes, const at::Generator& generator) {
  const auto features = plan_.hidden_dim;
  const auto& patches = *tower_.conv_proj;
  heads_ = make<Sequence>("heads");
  const Linear* pre_logits = nullptr;
  if (representation) {
    auto linear = std::make_unique<Linear>(features, *representation, generator);
    pre_logits = linear.get();
    heads_->append("pre_logits", std::move(linear));
    heads_->append("act", std::make_unique<Activate>(Activation::tanh));
  }
  auto head = std::make_unique<Linear>(representation.value_or(features), classes, generator);
  initialize_by_fan(patches.weight(), patches.bias(), generator);
  if (pre_logits) initialize_by_fan(pre_logits->weight(), pre_logits->bias(), generator);
  initialize::constant(head->weight(), 0);
  initialize::constant(head->bias(), 0);
  heads_->append("head", std::move(head));
  if (plan_.registers > 0)
    initialize::normal(tower_.tokens.back().tensor, register_deviation, generator);
  if (!plan_.distilled) return;
  head_dist_ = make<Linear>("head_dist", features, classes, generator);
  initialize::constant(head_dist_->weight(), 0);
  initialize::constant(head_dist_->bias(), 0);
}

at::Tensor VisionTransformer::forward(const at::Tensor& input, const Pass& pass) {
  if (head_dist_ == nullptr) return heads_->forward(tower_.features(input, pass), pass);
  const auto x = tower_.encoded(input, pass);
  return heads_->forward(x.select(1, 0), pass)
      .add(head_dist_->forward(x.select(1, 1), pass))
      .div(2);
}

Body VisionTransformer::take_body() {
  Body body;
  std::vector<std::pair<std::string, std::unique_ptr<Module>>> parts;
  for (const auto& [name, tensor] : tower_.tokens) body.names[name] = "0." + name;
  for (const std::string name : {"conv_proj", "encoder", "pool"}) {
    if (name == "pool" && tower_.pool == nullptr) continue;
    body.names[name + "."] = fmt::format("0.{}.", name);
    parts.emplace_back(name, release_child(name));
  }
  body.layers->append(std::make_unique<VisionBody>(tower_, std::move(parts)));
  body.groups = {body.layers->children()};
  body.pooled = plan_.hidden_dim;
  body.positions = "0." + patch_positions();
  return body;
}

/// torchvision's files of vit_b_16 and others are older than its names of the two-layer networks.
NameTable older_torchvision() {
  const std::string block = "encoder.layers.encoder_layer_*.mlp.";
  return {.library = Library::torchvision,
          .places = {{block + "0.", block + "linear_1."}, {block + "3.", block + "linear_2."}}};
}

/// timm's names of architectures and trainings say which activation they have in place of GELU;
/// OpenAI's weights have another one where timm computes them without "quickgelu", too.
std::string activation_differs(const std::string& architecture, Activation here) {
  const auto has = [&](const char* word) { return architecture.find(word) != std::string::npos; };
  if (has("quickgelu") && here != Activation::quick_gelu)
    return "its activation is x sigmoid(1.702 x); write 'activation: quick_gelu' next to the "
           "network's type";
  if (!has("quickgelu") && (has(".laion") || has(".datacomp")) && here != Activation::gelu)
    return "its activation is GELU; write 'activation: gelu' next to the network's type";
  return {};
}

// The authors' files of DINOv2 have timm's names, and a token of their training.
std::vector<NameTable> VisionTransformer::name_tables() const {
  const NameTable timm{.library = Library::timm,
                       .places = {{"class_token", "cls_token"},
                                  {"distillation_token", "dist_token"},
                                  {"registers", "reg_token"},
                                  {"conv_proj.", "patch_embed.proj."},
                                  {"encoder.pos_embedding", "pos_embed"},
                                  {"encoder.ln_pre.", "norm_pre."},
                                  {"encoder.layers.encoder_layer_*.", "blocks.*."},
                                  {"encoder.ln.", "norm."},
                                  {"pool.", "attn_pool."},
                                  {"heads.head.", "head."},
                                  {"heads.pre_logits.", "pre_logits.fc."}},
                       .parts = {{"ln_1.", "norm1."},
                                 {"self_attention.in_proj_weight", "attn.qkv.weight"},
                                 {"self_attention.in_proj_bias", "attn.qkv.bias"},
                                 {"self_attention.out_proj.", "attn.proj."},
                                 {"layer_scale_1", "ls1.gamma"},
                                 {"ln_2.", "norm2."},
                                 {"mlp.0.", "mlp.fc1."},
                                 {"mlp.3.", "mlp.fc2."},
                                 {"layer_scale_2", "ls2.gamma"}},
                       .computed = {"mask_token"},
                       .differs = [activation = plan_.activation](const std::string& architecture) {
                         return activation_differs(architecture, activation);
                       }};
  const VisionTransformerPlan plain;
  const bool of_torchvision = plan_.registers == 0 && !plan_.distilled && !plan_.layer_scale &&
                              !plan_.pre_norm && plan_.activation == plain.activation &&
                              plan_.norm_eps == plain.norm_eps && plan_.pool == plain.pool &&
                              plan_.class_positions;
  if (!of_torchvision) return {timm};
  return {{.library = Library::torchvision}, timm, older_torchvision()};
}

}  // namespace

std::span<const std::string_view> names(VisionPool) {
  return kNameList<"class_token", "attention">;
}

void VisionTowerOptions::fields(Fields& f) {
  image.fields(f);
  f("image_size", image_size,
    {.doc = "Height and width of the images; auto takes the data's, or 224.", .min = 1});
  f("dropout", dropout,
    {.doc = "Probability of dropping each element of embedding and blocks.", .min = 0, .max = 1});
  f("attention_dropout", attention_dropout,
    {.doc = "Probability of dropping each attention weight.", .min = 0, .max = 1});
}

void VisionTransformerOptions::fields(Fields& f) {
  VisionTowerOptions::fields(f);
  f("representation_size", representation_size,
    {.doc = "Size of a linear layer with tanh before the last; null leaves it out.", .min = 1});
}

VisionTransformerOptions without_representation(const VisionTowerOptions& options) {
  VisionTransformerOptions all;
  static_cast<VisionTowerOptions&>(all) = options;
  return all;
}

std::vector<std::string> vision_transformer_traits() {
  return {"blocks", "dropout", "lends_features", "takes_images", "outputs heads.head head_dist"};
}

std::unique_ptr<Model> make_vision_transformer(const VisionTransformerPlan& plan,
                                               const VisionTransformerOptions& options,
                                               const ModelContext& context) {
  return std::make_unique<VisionTransformer>(plan, options, context);
}

}  // namespace ddptrain
