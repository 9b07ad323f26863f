// torchvision 0.26's weights of the models that are in the catalog: the enums *_Weights. File
// names end in the first eight digits of the file's sha256; more is not published.
#include "weights/publishers.h"

namespace ddptrain {
namespace {

/// torchvision states a license of the SWAG weights alone; of the others its README says that they
/// may have terms of the data that they were trained on.
constexpr std::string_view kCodeLicense = "BSD-3-Clause";
constexpr std::string_view kSwagLicense = "CC-BY-NC-4.0";

PublishedWeights row(std::string_view model, std::string_view name, std::string_view file,
                     std::string_view digest, double mebibytes, double top1,
                     const Preprocessing& prepared, std::string_view license = kCodeLicense) {
  return {.model = model,
          .name = name,
          .publisher = "torchvision",
          .url = "https://download.pytorch.org/models/" + std::string(file),
          .sha256 = digest,
          .mebibytes = mebibytes,
          .top1 = top1,
          .prepared = prepared,
          .license = license,
          .license_is_of_code = license == kCodeLicense,
          .license_source = "https://github.com/pytorch/vision#pre-trained-model-license"};
}

/// What torchvision calls DEFAULT.
PublishedWeights default_row(std::string_view model, std::string_view name, std::string_view file,
                             std::string_view digest, double mebibytes, double top1,
                             const Preprocessing& prepared) {
  auto weights = row(model, name, file, digest, mebibytes, top1, prepared);
  weights.is_default = true;
  return weights;
}

}  // namespace

std::vector<PublishedWeights> torchvision_weights() {
  return {
      default_row("alexnet", "imagenet1k_v1", "alexnet-owt-7be5be79.pth", "7be5be79", 233.087,
                  56.522, {256, 224}),
      default_row("convnext_base", "imagenet1k_v1", "convnext_base-6075fbad.pth", "6075fbad",
                  338.064, 84.062, {232, 224}),
      default_row("convnext_small", "imagenet1k_v1", "convnext_small-0c510722.pth", "0c510722",
                  191.703, 83.616, {230, 224}),
      default_row("convnext_tiny", "imagenet1k_v1", "convnext_tiny-983f1562.pth", "983f1562",
                  109.119, 82.52, {236, 224}),
      default_row("densenet121", "imagenet1k_v1", "densenet121-a639ec97.pth", "a639ec97", 30.845,
                  74.434, {256, 224}),
      default_row("densenet169", "imagenet1k_v1", "densenet169-b2777c0a.pth", "b2777c0a", 54.708,
                  75.6, {256, 224}),
      default_row("efficientnet_b0", "imagenet1k_v1", "efficientnet_b0_rwightman-7f5810bc.pth",
                  "7f5810bc", 20.451, 77.692, {256, 224, "bicubic"}),
      row("efficientnet_b1", "imagenet1k_v1", "efficientnet_b1_rwightman-bac287d4.pth", "bac287d4",
          30.134, 78.642, {256, 240, "bicubic"}),
      default_row("efficientnet_b1", "imagenet1k_v2", "efficientnet_b1-c27df63c.pth", "c27df63c",
                  30.136, 79.838, {255, 240}),
      default_row("efficientnet_b2", "imagenet1k_v1", "efficientnet_b2_rwightman-c35c1473.pth",
                  "c35c1473", 35.174, 80.608, {288, 288, "bicubic"}),
      default_row("efficientnet_b3", "imagenet1k_v1", "efficientnet_b3_rwightman-b3899882.pth",
                  "b3899882", 47.184, 82.008, {320, 300, "bicubic"}),
      default_row("efficientnet_b4", "imagenet1k_v1", "efficientnet_b4_rwightman-23ab8bcd.pth",
                  "23ab8bcd", 74.489, 83.384, {384, 380, "bicubic"}),
      row("mobilenet_v2", "imagenet1k_v1", "mobilenet_v2-b0353104.pth", "b0353104", 13.555, 71.878,
          {256, 224}),
      default_row("mobilenet_v2", "imagenet1k_v2", "mobilenet_v2-7ebf99e0.pth", "7ebf99e0", 13.598,
                  72.154, {232, 224}),
      row("mobilenet_v3_large", "imagenet1k_v1", "mobilenet_v3_large-8738ca79.pth", "8738ca79",
          21.114, 74.042, {256, 224}),
      default_row("mobilenet_v3_large", "imagenet1k_v2", "mobilenet_v3_large-5c1a4163.pth",
                  "5c1a4163", 21.107, 75.274, {232, 224}),
      default_row("mobilenet_v3_small", "imagenet1k_v1", "mobilenet_v3_small-047dcff4.pth",
                  "047dcff4", 9.829, 67.668, {256, 224}),
      row("regnet_x_400mf", "imagenet1k_v1", "regnet_x_400mf-adf1edd5.pth", "adf1edd5", 21.258,
          72.834, {256, 224}),
      default_row("regnet_x_400mf", "imagenet1k_v2", "regnet_x_400mf-62229a5f.pth", "62229a5f",
                  21.257, 74.864, {232, 224}),
      row("regnet_y_400mf", "imagenet1k_v1", "regnet_y_400mf-c65dace8.pth", "c65dace8", 16.806,
          74.046, {256, 224}),
      default_row("regnet_y_400mf", "imagenet1k_v2", "regnet_y_400mf-e6988f5f.pth", "e6988f5f",
                  16.806, 75.804, {232, 224}),
      default_row("resnet18", "imagenet1k_v1", "resnet18-f37072fd.pth", "f37072fd", 44.661, 69.758,
                  {256, 224}),
      default_row("resnet34", "imagenet1k_v1", "resnet34-b627a593.pth", "b627a593", 83.275, 73.314,
                  {256, 224}),
      row("resnet50", "imagenet1k_v1", "resnet50-0676ba61.pth", "0676ba61", 97.781, 76.13,
          {256, 224}),
      default_row("resnet50", "imagenet1k_v2", "resnet50-11ad3fa6.pth", "11ad3fa6", 97.79, 80.858,
                  {232, 224}),
      row("resnet101", "imagenet1k_v1", "resnet101-63fe2227.pth", "63fe2227", 170.511, 77.374,
          {256, 224}),
      default_row("resnet101", "imagenet1k_v2", "resnet101-cd907fc2.pth", "cd907fc2", 170.53,
                  81.886, {232, 224}),
      row("resnet152", "imagenet1k_v1", "resnet152-394f9c45.pth", "394f9c45", 230.434, 78.312,
          {256, 224}),
      default_row("resnet152", "imagenet1k_v2", "resnet152-f82ba261.pth", "f82ba261", 230.474,
                  82.284, {232, 224}),
      row("resnext50_32x4d", "imagenet1k_v1", "resnext50_32x4d-7cdf4587.pth", "7cdf4587", 95.789,
          77.618, {256, 224}),
      default_row("resnext50_32x4d", "imagenet1k_v2", "resnext50_32x4d-1a0047aa.pth", "1a0047aa",
                  95.833, 81.198, {232, 224}),
      default_row("squeezenet1_1", "imagenet1k_v1", "squeezenet1_1-b8a52dc0.pth", "b8a52dc0", 4.729,
                  58.178, {256, 224}),
      default_row("swin_b", "imagenet1k_v1", "swin_b-68c6b09e.pth", "68c6b09e", 335.364, 83.582,
                  {238, 224, "bicubic"}),
      default_row("swin_s", "imagenet1k_v1", "swin_s-5e29d889.pth", "5e29d889", 189.786, 83.196,
                  {246, 224, "bicubic"}),
      default_row("swin_t", "imagenet1k_v1", "swin_t-704ceda3.pth", "704ceda3", 108.19, 81.474,
                  {232, 224, "bicubic"}),
      default_row("vgg11", "imagenet1k_v1", "vgg11-8a719046.pth", "8a719046", 506.84, 69.02,
                  {256, 224}),
      default_row("vgg16_bn", "imagenet1k_v1", "vgg16_bn-6c64b313.pth", "6c64b313", 527.866, 73.36,
                  {256, 224}),
      default_row("vit_b_16", "imagenet1k_v1", "vit_b_16-c867db91.pth", "c867db91", 330.285, 81.072,
                  {256, 224}),
      row("vit_b_16", "imagenet1k_swag_e2e_v1", "vit_b_16_swag-9ac1b537.pth", "9ac1b537", 331.398,
          85.304, {384, 384, "bicubic"}, kSwagLicense),
      row("vit_b_16", "imagenet1k_swag_linear_v1", "vit_b_16_lc_swag-4e70ced5.pth", "4e70ced5",
          330.285, 81.886, {224, 224, "bicubic"}, kSwagLicense),
      default_row("vit_b_32", "imagenet1k_v1", "vit_b_32-d86f8d99.pth", "d86f8d99", 336.604, 75.912,
                  {256, 224}),
      default_row("vit_l_16", "imagenet1k_v1", "vit_l_16-852ce7e3.pth", "852ce7e3", 1161.023,
                  79.662, {242, 224}),
      row("vit_l_16", "imagenet1k_swag_e2e_v1", "vit_l_16_swag-4f3808c9.pth", "4f3808c9", 1164.258,
          88.064, {512, 512, "bicubic"}, kSwagLicense),
      row("vit_l_16", "imagenet1k_swag_linear_v1", "vit_l_16_lc_swag-4d563306.pth", "4d563306",
          1161.023, 85.146, {224, 224, "bicubic"}, kSwagLicense),
      default_row("vit_l_32", "imagenet1k_v1", "vit_l_32-c7638314.pth", "c7638314", 1169.449,
                  76.972, {256, 224}),
      row("wide_resnet50_2", "imagenet1k_v1", "wide_resnet50_2-95faca4d.pth", "95faca4d", 131.82,
          78.468, {256, 224}),
      default_row("wide_resnet50_2", "imagenet1k_v2", "wide_resnet50_2-9ba9bcbe.pth", "9ba9bcbe",
                  263.124, 81.602, {232, 224}),
  };
}

}  // namespace ddptrain
