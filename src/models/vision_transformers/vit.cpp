// Vision transformers of torchvision and of timm: vit, vit_ti_16, vit_s_16, vit_s_32, vit_b_16,
// vit_b_32, vit_l_16, vit_l_32, deit_ti_16, deit_s_16, deit_b_16.
#include "models/vision_transformers/vision_transformer.h"

namespace ddptrain {
namespace {

struct VitOptions {
  VisionTransformerOptions common;
  VisionTransformerPlan plan;
  void fields(Fields& f);
};

void VitOptions::fields(Fields& f) {
  common.fields(f);
  f("patch_size", plan.patch_size, {.doc = "Height and width of a patch.", .min = 1});
  f("num_layers", plan.num_layers, {.doc = "Blocks of the encoder.", .min = 1});
  f("num_heads", plan.num_heads, {.doc = "Heads of the attention.", .min = 1});
  f("hidden_dim", plan.hidden_dim, {.doc = "Numbers that stand for a patch.", .min = 1});
  f("mlp_dim", plan.mlp_dim, {.doc = "Hidden numbers of a block's two-layer network.", .min = 1});
  f("registers", plan.registers,
    {.doc = "Learned tokens in addition to the patches that the output leaves out.", .min = 0});
  f("distilled", plan.distilled,
    {.doc = "A second token with a head of its own, as in DeiT; outputs are the mean of both."});
  f("layer_scale", plan.layer_scale,
    {.doc = "First factor on what each half of a block adds, learned for each feature; null: none.",
     .min = 0});
  f("class_positions", plan.class_positions,
    {.doc = "Tokens have positions as patches do; false: patches alone."});
  f("pre_norm", plan.pre_norm,
    {.doc = "A layer norm before the blocks, in place of the patches' bias, as in CLIP."});
  f("activation", plan.activation, {.doc = "Activation of the two-layer networks."});
  f("norm_eps", plan.norm_eps, {.doc = "Added to the variance by every layer norm.", .min = 0});
  f("pool", plan.pool,
    {.doc = "What stands for an image: its class token, or what a learned query finds in all "
            "patches (SigLIP), without a class token."});
  f.require(divides("num_heads", "hidden_dim"));
  f.require(divides("patch_size", "image_size"));
  f.require(needs("distilled", is("pool", "class_token")));
}

template <int patch>
struct SizedOptions : VisionTransformerOptions {
  void fields(Fields& f) {
    VisionTransformerOptions::fields(f);
    f.require(always(multiple_of("image_size", patch)));
  }
};

template <int patch>
Entry<Model> vit_entry(std::string name, const std::string& size, VisionTransformerPlan plan) {
  plan.patch_size = patch;
  const auto pixels = std::to_string(patch);
  return entry<Model, SizedOptions<patch>>(
      std::move(name), size + " on patches of " + pixels + " x " + pixels + ".",
      [plan](const SizedOptions<patch>& options, const ModelContext& context) {
        return make_vision_transformer(plan, options, context);
      },
      vision_transformer_traits());
}

/// Features, layers and heads of Tiny, Small and Large; those of Base are the plan's own.
constexpr VisionTransformerPlan tiny{.num_heads = 3, .hidden_dim = 192, .mlp_dim = 768};
constexpr VisionTransformerPlan small{.num_heads = 6, .hidden_dim = 384, .mlp_dim = 1536};
constexpr VisionTransformerPlan base{};
constexpr VisionTransformerPlan large{
    .num_layers = 24, .num_heads = 16, .hidden_dim = 1024, .mlp_dim = 4096};

struct DeitOptions : VisionTowerOptions {
  bool distilled = false;
  void fields(Fields& f) {
    VisionTowerOptions::fields(f);
    f("distilled", distilled,
      {.doc = "The distillation token and its head; outputs are the mean of both heads."});
    f.require(always(multiple_of("image_size", 16)));
  }
};

Entry<Model> deit_entry(std::string name, std::string doc, const VisionTransformerPlan& plan) {
  return entry<Model, DeitOptions>(
      std::move(name), std::move(doc),
      [plan](const DeitOptions& options, const ModelContext& context) {
        auto distilled = plan;
        distilled.distilled = options.distilled;
        return make_vision_transformer(distilled, without_representation(options), context);
      },
      vision_transformer_traits());
}

}  // namespace

Entry<Model> vit_model() {
  return entry<Model, VitOptions>(
      "vit", "Vision transformer of any size, as in torchvision and timm.",
      [](const VitOptions& options, const ModelContext& context) {
        return make_vision_transformer(options.plan, options.common, context);
      },
      vision_transformer_traits());
}

Entry<Model> vit_ti_16_model() {
  return vit_entry<16>("vit_ti_16", "Tiny vision transformer, 12 layers of 192 features", tiny);
}

Entry<Model> vit_s_16_model() {
  return vit_entry<16>("vit_s_16", "Small vision transformer, 12 layers of 384 features", small);
}

Entry<Model> vit_s_32_model() {
  return vit_entry<32>("vit_s_32", "Small vision transformer, 12 layers of 384 features", small);
}

Entry<Model> vit_b_16_model() {
  return vit_entry<16>("vit_b_16", "Vision transformer as in torchvision, 12 layers", base);
}

Entry<Model> vit_b_32_model() {
  return vit_entry<32>("vit_b_32", "Vision transformer as in torchvision, 12 layers", base);
}

Entry<Model> vit_l_16_model() {
  return vit_entry<16>("vit_l_16", "Large vision transformer as in torchvision, 24 layers", large);
}

Entry<Model> vit_l_32_model() {
  return vit_entry<32>("vit_l_32", "Large vision transformer as in torchvision, 24 layers", large);
}

Entry<Model> deit_ti_16_model() {
  return deit_entry("deit_ti_16", "DeiT Tiny on patches of 16 x 16, as in timm.", tiny);
}

Entry<Model> deit_s_16_model() {
  return deit_entry("deit_s_16", "DeiT Small on patches of 16 x 16, as in timm.", small);
}

Entry<Model> deit_b_16_model() {
  return deit_entry("deit_b_16", "DeiT Base on patches of 16 x 16, as in timm.", base);
}

}  // namespace ddptrain
