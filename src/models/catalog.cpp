// The models.
#include "config/shape.h"
#include "models/model.h"
#include "recipe/model_section.h"

namespace ddptrain {

Entry<Model> alexnet_model();
Entry<Model> awd_lstm_lm_model();
Entry<Model> awd_lstm_model();
Entry<Model> bag_of_embeddings_model();
Entry<Model> clip_b_16_model();
Entry<Model> clip_b_32_model();
Entry<Model> clip_l_14_model();
Entry<Model> collab_nn_model();
Entry<Model> convnext_base_model();
Entry<Model> convnext_small_model();
Entry<Model> convnext_tiny_model();
Entry<Model> deeplabv3_model();
Entry<Model> deit_b_16_model();
Entry<Model> deit_s_16_model();
Entry<Model> deit_ti_16_model();
Entry<Model> densenet121_model();
Entry<Model> densenet169_model();
Entry<Model> dinov2_b_14_model();
Entry<Model> dinov2_l_14_model();
Entry<Model> dinov2_s_14_model();
Entry<Model> efficientnet_b0_model();
Entry<Model> efficientnet_b1_model();
Entry<Model> efficientnet_b2_model();
Entry<Model> efficientnet_b3_model();
Entry<Model> efficientnet_b4_model();
Entry<Model> embedding_dot_bias_model();
Entry<Model> fcn_model();
Entry<Model> gpt2_model();
Entry<Model> mlp_model();
Entry<Model> mnist_net_model();
Entry<Model> mobilenet_v2_model();
Entry<Model> mobilenet_v3_large_model();
Entry<Model> mobilenet_v3_small_model();
Entry<Model> regnet_x_400mf_model();
Entry<Model> regnet_y_400mf_model();
Entry<Model> resnet101_model();
Entry<Model> resnet152_model();
Entry<Model> resnet18_model();
Entry<Model> resnet34_model();
Entry<Model> resnet50_model();
Entry<Model> resnext50_32x4d_model();
Entry<Model> sequential_model();
Entry<Model> siglip_b_16_model();
Entry<Model> siglip_l_16_model();
Entry<Model> squeezenet1_1_model();
Entry<Model> swin_b_model();
Entry<Model> swin_s_model();
Entry<Model> swin_t_model();
Entry<Model> tabular_model();
Entry<Model> text_transformer_model();
Entry<Model> torchscript_model();
Entry<Model> unet_model();
Entry<Model> vgg11_model();
Entry<Model> vgg16_bn_model();
Entry<Model> vision_learner_model();
Entry<Model> vit_model();
Entry<Model> vit_b_16_model();
Entry<Model> vit_b_32_model();
Entry<Model> vit_l_16_model();
Entry<Model> vit_l_32_model();
Entry<Model> vit_s_16_model();
Entry<Model> vit_s_32_model();
Entry<Model> vit_ti_16_model();
Entry<Model> wide_resnet50_2_model();
Entry<Model> xresnet101_model();
Entry<Model> xresnet18_model();
Entry<Model> xresnet18_deep_model();
Entry<Model> xresnet34_model();
Entry<Model> xresnet50_model();
Entry<Model> xresnext18_model();
Entry<Model> xresnext50_model();
Entry<Model> xse_resnet18_model();
Entry<Model> xse_resnet34_model();
Entry<Model> xse_resnext18_model();
Entry<Model> xse_resnext50_model();

namespace {

Entry<Model> (*const kModels[])() = {
    alexnet_model,
    awd_lstm_lm_model,
    awd_lstm_model,
    bag_of_embeddings_model,
    clip_b_16_model,
    clip_b_32_model,
    clip_l_14_model,
    collab_nn_model,
    convnext_base_model,
    convnext_small_model,
    convnext_tiny_model,
    deeplabv3_model,
    deit_b_16_model,
    deit_s_16_model,
    deit_ti_16_model,
    densenet121_model,
    densenet169_model,
    dinov2_b_14_model,
    dinov2_l_14_model,
    dinov2_s_14_model,
    efficientnet_b0_model,
    efficientnet_b1_model,
    efficientnet_b2_model,
    efficientnet_b3_model,
    efficientnet_b4_model,
    embedding_dot_bias_model,
    fcn_model,
    gpt2_model,
    mlp_model,
    mnist_net_model,
    mobilenet_v2_model,
    mobilenet_v3_large_model,
    mobilenet_v3_small_model,
    regnet_x_400mf_model,
    regnet_y_400mf_model,
    resnet101_model,
    resnet152_model,
    resnet18_model,
    resnet34_model,
    resnet50_model,
    resnext50_32x4d_model,
    sequential_model,
    siglip_b_16_model,
    siglip_l_16_model,
    squeezenet1_1_model,
    swin_b_model,
    swin_s_model,
    swin_t_model,
    tabular_model,
    text_transformer_model,
    torchscript_model,
    unet_model,
    vgg11_model,
    vgg16_bn_model,
    vision_learner_model,
    vit_model,
    vit_b_16_model,
    vit_b_32_model,
    vit_l_16_model,
    vit_l_32_model,
    vit_s_16_model,
    vit_s_32_model,
    vit_ti_16_model,
    wide_resnet50_2_model,
    xresnet101_model,
    xresnet18_model,
    xresnet18_deep_model,
    xresnet34_model,
    xresnet50_model,
    xresnext18_model,
    xresnext50_model,
    xse_resnet18_model,
    xse_resnet34_model,
    xse_resnext18_model,
    xse_resnext50_model,
};

/// Every model has the section's options in addition to its own.
std::vector<Entry<Model>> with_section() {
  std::vector<Entry<Model>> models;
  for (const auto make : kModels) {
    auto& model = models.emplace_back(make());
    model.options = std::make_shared<const LazyShape>(
        [own = std::move(model.options)] { return joined(own->get(), shape_of<ModelSection>()); });
  }
  return models;
}

}  // namespace

template <>
const Catalog<Model>& catalog<Model>() {
  static const Catalog<Model> models(with_section());
  return models;
}

}  // namespace ddptrain
