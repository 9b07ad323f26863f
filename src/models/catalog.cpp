#include "models/catalog.h"

#include "config/shape.h"
#include "recipe/model_section.h"

namespace ddptrain {
namespace {

/// Every model has the section's options beside its own.
std::vector<Entry<Model>> with_section(std::vector<Entry<Model>> models) {
  for (auto& model : models)
    model.options = std::make_shared<const LazyShape>(
        [own = std::move(model.options)] { return joined(own->get(), shape_of<ModelSection>()); });
  return models;
}

}  // namespace

template <>
const Catalog<Model>& catalog<Model>() {
  static const Catalog<Model> models(with_section({
      alexnet_model(),
      awd_lstm_model(),
      bag_of_embeddings_model(),
      convnext_tiny_model(),
      densenet121_model(),
      densenet169_model(),
      efficientnet_b0_model(),
      mlp_model(),
      mnist_net_model(),
      mobilenet_v2_model(),
      mobilenet_v3_large_model(),
      mobilenet_v3_small_model(),
      regnet_x_400mf_model(),
      regnet_y_400mf_model(),
      resnet101_model(),
      resnet152_model(),
      resnet18_model(),
      resnet34_model(),
      resnet50_model(),
      resnext50_32x4d_model(),
      sequential_model(),
      squeezenet1_1_model(),
      swin_t_model(),
      tabular_model(),
      text_transformer_model(),
      vgg11_model(),
      vgg16_bn_model(),
      vision_learner_model(),
      vit_model(),
      vit_b_16_model(),
      wide_resnet50_2_model(),
      xresnet101_model(),
      xresnet18_model(),
      xresnet18_deep_model(),
      xresnet34_model(),
      xresnet50_model(),
      xresnext18_model(),
      xresnext50_model(),
      xse_resnet18_model(),
      xse_resnet34_model(),
      xse_resnext18_model(),
      xse_resnext50_model(),
  }));
  return models;
}

}  // namespace ddptrain
