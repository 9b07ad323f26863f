// siglip_b_16, siglip_l_16. The image towers of SigLIP (Zhai et al. 2023) as timm has them: no
// class token, and a pool by attention; its weights have no head.
#include "models/vision_transformers/vision_transformer.h"

namespace ddptrain {
namespace {

struct SiglipOptions : VisionTowerOptions {
  Activation activation = Activation::gelu;
  void fields(Fields& f) {
    VisionTowerOptions::fields(f);
    f("activation", activation,
      {.doc = "Activation of the two-layer networks: gelu, and gelu_tanh for weights of images of "
              "512 pixels."});
    f.require(always(multiple_of("image_size", 16)));
  }
};

Entry<Model> siglip_entry(std::string name, std::string doc, VisionTransformerPlan plan) {
  plan.pool = VisionPool::attention;
  return entry<Model, SiglipOptions>(
      std::move(name), std::move(doc),
      [plan](const SiglipOptions& options, const ModelContext& context) {
        auto with_activation = plan;
        with_activation.activation = options.activation;
        return make_vision_transformer(with_activation, without_representation(options), context);
      },
      vision_transformer_traits());
}

}  // namespace

Entry<Model> siglip_b_16_model() {
  return siglip_entry("siglip_b_16", "Image tower of SigLIP ViT-B on patches of 16 x 16.", {});
}

Entry<Model> siglip_l_16_model() {
  return siglip_entry("siglip_l_16", "Image tower of SigLIP ViT-L on patches of 16 x 16.",
                      {.num_layers = 24, .num_heads = 16, .hidden_dim = 1024, .mlp_dim = 4096});
}

}  // namespace ddptrain
