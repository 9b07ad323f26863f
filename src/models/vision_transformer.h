// The vision transformers of torchvision (Dosovitskiy et al. 2021). Names, order and first weights
// are torchvision's.
#pragma once

#include "models/image_options.h"
#include "models/model.h"

namespace ddptrain {

/// What tells one architecture from another; at first those of ViT-B/16.
struct VisionTransformerPlan {
  std::int64_t patch_size = 16;
  std::int64_t num_layers = 12;
  std::int64_t num_heads = 12;
  std::int64_t hidden_dim = 768;
  std::int64_t mlp_dim = 3072;
  void fields(Fields& f) {
    f("patch_size", patch_size, {.doc = "Height and width of a patch.", .min = 1});
    f("num_layers", num_layers, {.doc = "Blocks of the encoder.", .min = 1});
    f("num_heads", num_heads, {.doc = "Heads of the attention; divides hidden_dim.", .min = 1});
    f("hidden_dim", hidden_dim, {.doc = "Numbers that stand for a patch.", .min = 1});
    f("mlp_dim", mlp_dim, {.doc = "Hidden numbers of a block's two-layer network.", .min = 1});
  }
};

struct VisionTransformerOptions {
  ImageOptions image;
  Auto<std::int64_t> image_size;
  double dropout = 0;
  double attention_dropout = 0;
  std::optional<std::int64_t> representation_size;
  void fields(Fields& f) {
    image.fields(f);
    f("image_size", image_size,
      {.doc = "Height and width of the images; auto takes the data's, or 224.", .min = 1});
    f("dropout", dropout,
      {.doc = "Probability of dropping each element of embedding and blocks.", .min = 0, .max = 1});
    f("attention_dropout", attention_dropout,
      {.doc = "Probability of dropping each attention weight.", .min = 0, .max = 1});
    f("representation_size", representation_size,
      {.doc = "Size of a linear layer with tanh before the last; null leaves it out.", .min = 1});
  }
};

std::unique_ptr<Model> make_vision_transformer(const VisionTransformerPlan& plan,
                                               const VisionTransformerOptions& options,
                                               const ModelContext& context);

}  // namespace ddptrain
