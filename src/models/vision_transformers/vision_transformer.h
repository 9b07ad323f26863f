// Vision transformers (Dosovitskiy et al. 2021) and what was made of them: DeiT, DINOv2, and the
// image towers of CLIP and SigLIP. Names, order and first weights are torchvision's, those of parts
// that torchvision lacks are given in vision_transformer.cpp.
#pragma once

#include <memory>
#include <optional>

#include "models/layers/activation.h"
#include "models/model.h"
#include "models/vision/image_options.h"

namespace ddptrain {

/// What stands for an image behind the blocks: its class token, or what a learned query finds in
/// all patches, for which there is no class token (SigLIP).
enum class VisionPool { class_token, attention };
std::span<const std::string_view> names(VisionPool);

/// What distinguishes the architectures; the defaults are those of ViT-B/16.
struct VisionTransformerPlan {
  std::int64_t patch_size = 16;
  std::int64_t num_layers = 12;
  std::int64_t num_heads = 12;
  std::int64_t hidden_dim = 768;
  std::int64_t mlp_dim = 3072;
  std::int64_t registers = 0;  // tokens that stand for nothing (Darcet et al. 2024)
  bool distilled = false;      // DeiT's second token and its head; outputs are the mean of both
  std::optional<double> layer_scale = {};  // first factor on what a half of a block adds
  bool class_positions = true;             // tokens have positions as patches do
  bool pre_norm = false;                   // before the blocks, for a bias of the patches (CLIP)
  Activation activation = Activation::gelu;
  double norm_eps = 1e-6;
  VisionPool pool = VisionPool::class_token;

  /// Tokens before the patches.
  std::int64_t tokens() const {
    return registers + (distilled ? 1 : 0) + (pool == VisionPool::class_token ? 1 : 0);
  }
};

/// Options that all have.
struct VisionTowerOptions {
  ImageOptions image;
  Auto<std::int64_t> image_size;
  double dropout = 0;
  double attention_dropout = 0;
  void fields(Fields& f);
};

/// Those of torchvision's.
struct VisionTransformerOptions : VisionTowerOptions {
  std::optional<std::int64_t> representation_size;
  void fields(Fields& f);
};

/// An Error (Exit::recipe) where images are not square or cannot be cut into whole patches.
std::unique_ptr<Model> make_vision_transformer(const VisionTransformerPlan& plan,
                                               const VisionTransformerOptions& options,
                                               const ModelContext& context);

/// The options that all have.
VisionTransformerOptions without_representation(const VisionTowerOptions& options);

/// Traits of all.
std::vector<std::string> vision_transformer_traits();

}  // namespace ddptrain
