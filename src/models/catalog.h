// The models, one exported function each.
#pragma once

#include "models/model.h"

namespace ddptrain {

Entry<Model> alexnet_model();
Entry<Model> awd_lstm_model();
Entry<Model> bag_of_embeddings_model();
Entry<Model> convnext_tiny_model();
Entry<Model> densenet121_model();
Entry<Model> densenet169_model();
Entry<Model> efficientnet_b0_model();
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
Entry<Model> squeezenet1_1_model();
Entry<Model> swin_t_model();
Entry<Model> tabular_model();
Entry<Model> text_transformer_model();
Entry<Model> vgg11_model();
Entry<Model> vgg16_bn_model();
Entry<Model> vision_learner_model();
Entry<Model> vit_model();
Entry<Model> vit_b_16_model();
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

}  // namespace ddptrain
