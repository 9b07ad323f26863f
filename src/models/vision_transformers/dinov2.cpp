// dinov2_s_14, dinov2_b_14, dinov2_l_14. DINOv2 (Oquab et al. 2023), with registers or without; its
// weights have no head.
#include "models/vision_transformers/vision_transformer.h"

namespace ddptrain {
namespace {

struct Dinov2Options : VisionTowerOptions {
  std::int64_t registers = 0;
  void fields(Fields& f) {
    VisionTowerOptions::fields(f);
    f("registers", registers,
      {.doc = "Learned tokens in addition to the patches; published weights have 0 or 4.",
       .min = 0});
    f.require(always(multiple_of("image_size", 14)));
  }
};

// With registers no token has a position.
Entry<Model> dinov2_entry(std::string name, std::string doc, VisionTransformerPlan plan) {
  plan.patch_size = 14;
  plan.layer_scale = 1e-5;
  return entry<Model, Dinov2Options>(
      std::move(name), std::move(doc),
      [plan](const Dinov2Options& options, const ModelContext& context) {
        auto with_registers = plan;
        with_registers.registers = options.registers;
        with_registers.class_positions = options.registers == 0;
        return make_vision_transformer(with_registers, without_representation(options), context);
      },
      vision_transformer_traits());
}

}  // namespace

Entry<Model> dinov2_s_14_model() {
  return dinov2_entry("dinov2_s_14", "DINOv2 Small: a vision transformer on patches of 14 x 14.",
                      {.num_heads = 6, .hidden_dim = 384, .mlp_dim = 1536});
}

Entry<Model> dinov2_b_14_model() {
  return dinov2_entry("dinov2_b_14", "DINOv2 Base: a vision transformer on patches of 14 x 14.",
                      {});
}

Entry<Model> dinov2_l_14_model() {
  return dinov2_entry("dinov2_l_14", "DINOv2 Large: a vision transformer on patches of 14 x 14.",
                      {.num_layers = 24, .num_heads = 16, .hidden_dim = 1024, .mlp_dim = 4096});
}

}  // namespace ddptrain
