// clip_b_32, clip_b_16, clip_l_14. The image towers of CLIP (Radford et al. 2021) as timm has them:
// the last layer of OpenAI's and LAION's weights is the projection to the space of texts.
#include "models/vision_transformers/vision_transformer.h"

namespace ddptrain {
namespace {

template <int patch>
struct ClipOptions : VisionTowerOptions {
  Activation activation = Activation::quick_gelu;
  void fields(Fields& f) {
    VisionTowerOptions::fields(f);
    f("activation", activation,
      {.doc = "Activation of the two-layer networks: quick_gelu for OpenAI's weights, gelu for "
              "LAION's."});
    f.require(always(multiple_of("image_size", patch)));
  }
};

template <int patch>
Entry<Model> clip_entry(std::string name, const std::string& size, VisionTransformerPlan plan) {
  plan.patch_size = patch;
  plan.pre_norm = true;
  plan.norm_eps = 1e-5;
  const auto pixels = std::to_string(patch);
  return entry<Model, ClipOptions<patch>>(
      std::move(name),
      "Image tower of CLIP ViT-" + size + " on patches of " + pixels + " x " + pixels + ".",
      [plan](const ClipOptions<patch>& options, const ModelContext& context) {
        auto with_activation = plan;
        with_activation.activation = options.activation;
        return make_vision_transformer(with_activation, without_representation(options), context);
      },
      vision_transformer_traits());
}

}  // namespace

Entry<Model> clip_b_32_model() { return clip_entry<32>("clip_b_32", "B", {}); }

Entry<Model> clip_b_16_model() { return clip_entry<16>("clip_b_16", "B", {}); }

Entry<Model> clip_l_14_model() {
  return clip_entry<14>("clip_l_14", "L",
                        {.num_layers = 24, .num_heads = 16, .hidden_dim = 1024, .mlp_dim = 4096});
}

}  // namespace ddptrain
