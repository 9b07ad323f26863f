// torchvision 0.26's weights of the models that are in the catalog: the enums *_Weights. File
// names end in the first eight digits of the file's sha256; more is not published.
#include "weights/publishers.h"

namespace ddptrain {
namespace {

/// torchvision states a license of the SWAG weights alone; of the others its README says that they
/// may have terms of the data that they were trained on.
constexpr std::string_view kCodeLicense = "BSD-3-Clause";
constexpr std::string_view kSwagLicense = "CC-BY-NC-4.0";
constexpr std::string_view kBicubic = "bicubic";

enum Standing { kOther, kDefault, kSwag };  // kDefault: what torchvision calls DEFAULT

struct TorchvisionRow {
  std::string_view model;
  std::string_view name;
  std::string_view file;
  double mebibytes;
  double top1;
  Standing standing;
  int resize;
  int crop;
  std::string_view interpolation = Preprocessing{}.interpolation;
};

constexpr TorchvisionRow kTorchvisionRows[] = {
    {"alexnet", "imagenet1k_v1", "alexnet-owt-7be5be79.pth", 233.087, 56.522, kDefault, 256, 224},
    {"convnext_base", "imagenet1k_v1", "convnext_base-6075fbad.pth", 338.064, 84.062, kDefault, 232,
     224},
    {"convnext_small", "imagenet1k_v1", "convnext_small-0c510722.pth", 191.703, 83.616, kDefault,
     230, 224},
    {"convnext_tiny", "imagenet1k_v1", "convnext_tiny-983f1562.pth", 109.119, 82.52, kDefault, 236,
     224},
    {"densenet121", "imagenet1k_v1", "densenet121-a639ec97.pth", 30.845, 74.434, kDefault, 256,
     224},
    {"densenet169", "imagenet1k_v1", "densenet169-b2777c0a.pth", 54.708, 75.6, kDefault, 256, 224},
    {"efficientnet_b0", "imagenet1k_v1", "efficientnet_b0_rwightman-7f5810bc.pth", 20.451, 77.692,
     kDefault, 256, 224, kBicubic},
    {"efficientnet_b1", "imagenet1k_v1", "efficientnet_b1_rwightman-bac287d4.pth", 30.134, 78.642,
     kOther, 256, 240, kBicubic},
    {"efficientnet_b1", "imagenet1k_v2", "efficientnet_b1-c27df63c.pth", 30.136, 79.838, kDefault,
     255, 240},
    {"efficientnet_b2", "imagenet1k_v1", "efficientnet_b2_rwightman-c35c1473.pth", 35.174, 80.608,
     kDefault, 288, 288, kBicubic},
    {"efficientnet_b3", "imagenet1k_v1", "efficientnet_b3_rwightman-b3899882.pth", 47.184, 82.008,
     kDefault, 320, 300, kBicubic},
    {"efficientnet_b4", "imagenet1k_v1", "efficientnet_b4_rwightman-23ab8bcd.pth", 74.489, 83.384,
     kDefault, 384, 380, kBicubic},
    {"mobilenet_v2", "imagenet1k_v1", "mobilenet_v2-b0353104.pth", 13.555, 71.878, kOther, 256,
     224},
    {"mobilenet_v2", "imagenet1k_v2", "mobilenet_v2-7ebf99e0.pth", 13.598, 72.154, kDefault, 232,
     224},
    {"mobilenet_v3_large", "imagenet1k_v1", "mobilenet_v3_large-8738ca79.pth", 21.114, 74.042,
     kOther, 256, 224},
    {"mobilenet_v3_large", "imagenet1k_v2", "mobilenet_v3_large-5c1a4163.pth", 21.107, 75.274,
     kDefault, 232, 224},
    {"mobilenet_v3_small", "imagenet1k_v1", "mobilenet_v3_small-047dcff4.pth", 9.829, 67.668,
     kDefault, 256, 224},
    {"regnet_x_400mf", "imagenet1k_v1", "regnet_x_400mf-adf1edd5.pth", 21.258, 72.834, kOther, 256,
     224},
    {"regnet_x_400mf", "imagenet1k_v2", "regnet_x_400mf-62229a5f.pth", 21.257, 74.864, kDefault,
     232, 224},
    {"regnet_y_400mf", "imagenet1k_v1", "regnet_y_400mf-c65dace8.pth", 16.806, 74.046, kOther, 256,
     224},
    {"regnet_y_400mf", "imagenet1k_v2", "regnet_y_400mf-e6988f5f.pth", 16.806, 75.804, kDefault,
     232, 224},
    {"resnet18", "imagenet1k_v1", "resnet18-f37072fd.pth", 44.661, 69.758, kDefault, 256, 224},
    {"resnet34", "imagenet1k_v1", "resnet34-b627a593.pth", 83.275, 73.314, kDefault, 256, 224},
    {"resnet50", "imagenet1k_v1", "resnet50-0676ba61.pth", 97.781, 76.13, kOther, 256, 224},
    {"resnet50", "imagenet1k_v2", "resnet50-11ad3fa6.pth", 97.79, 80.858, kDefault, 232, 224},
    {"resnet101", "imagenet1k_v1", "resnet101-63fe2227.pth", 170.511, 77.374, kOther, 256, 224},
    {"resnet101", "imagenet1k_v2", "resnet101-cd907fc2.pth", 170.53, 81.886, kDefault, 232, 224},
    {"resnet152", "imagenet1k_v1", "resnet152-394f9c45.pth", 230.434, 78.312, kOther, 256, 224},
    {"resnet152", "imagenet1k_v2", "resnet152-f82ba261.pth", 230.474, 82.284, kDefault, 232, 224},
    {"resnext50_32x4d", "imagenet1k_v1", "resnext50_32x4d-7cdf4587.pth", 95.789, 77.618, kOther,
     256, 224},
    {"resnext50_32x4d", "imagenet1k_v2", "resnext50_32x4d-1a0047aa.pth", 95.833, 81.198, kDefault,
     232, 224},
    {"squeezenet1_1", "imagenet1k_v1", "squeezenet1_1-b8a52dc0.pth", 4.729, 58.178, kDefault, 256,
     224},
    {"swin_b", "imagenet1k_v1", "swin_b-68c6b09e.pth", 335.364, 83.582, kDefault, 238, 224,
     kBicubic},
    {"swin_s", "imagenet1k_v1", "swin_s-5e29d889.pth", 189.786, 83.196, kDefault, 246, 224,
     kBicubic},
    {"swin_t", "imagenet1k_v1", "swin_t-704ceda3.pth", 108.19, 81.474, kDefault, 232, 224,
     kBicubic},
    {"vgg11", "imagenet1k_v1", "vgg11-8a719046.pth", 506.84, 69.02, kDefault, 256, 224},
    {"vgg16_bn", "imagenet1k_v1", "vgg16_bn-6c64b313.pth", 527.866, 73.36, kDefault, 256, 224},
    {"vit_b_16", "imagenet1k_v1", "vit_b_16-c867db91.pth", 330.285, 81.072, kDefault, 256, 224},
    {"vit_b_16", "imagenet1k_swag_e2e_v1", "vit_b_16_swag-9ac1b537.pth", 331.398, 85.304, kSwag,
     384, 384, kBicubic},
    {"vit_b_16", "imagenet1k_swag_linear_v1", "vit_b_16_lc_swag-4e70ced5.pth", 330.285, 81.886,
     kSwag, 224, 224, kBicubic},
    {"vit_b_32", "imagenet1k_v1", "vit_b_32-d86f8d99.pth", 336.604, 75.912, kDefault, 256, 224},
    {"vit_l_16", "imagenet1k_v1", "vit_l_16-852ce7e3.pth", 1161.023, 79.662, kDefault, 242, 224},
    {"vit_l_16", "imagenet1k_swag_e2e_v1", "vit_l_16_swag-4f3808c9.pth", 1164.258, 88.064, kSwag,
     512, 512, kBicubic},
    {"vit_l_16", "imagenet1k_swag_linear_v1", "vit_l_16_lc_swag-4d563306.pth", 1161.023, 85.146,
     kSwag, 224, 224, kBicubic},
    {"vit_l_32", "imagenet1k_v1", "vit_l_32-c7638314.pth", 1169.449, 76.972, kDefault, 256, 224},
    {"wide_resnet50_2", "imagenet1k_v1", "wide_resnet50_2-95faca4d.pth", 131.82, 78.468, kOther,
     256, 224},
    {"wide_resnet50_2", "imagenet1k_v2", "wide_resnet50_2-9ba9bcbe.pth", 263.124, 81.602, kDefault,
     232, 224},
};

/// "7be5be79" of "alexnet-owt-7be5be79.pth".
std::string_view digest_in(std::string_view file) {
  constexpr std::size_t digits = 8, ending = std::string_view(".pth").size();
  return file.substr(file.size() - ending - digits, digits);
}

PublishedWeights published(const TorchvisionRow& row) {
  const bool swag = row.standing == kSwag;
  return {.model = row.model,
          .name = row.name,
          .publisher = "torchvision",
          .url = "https://download.pytorch.org/models/" + std::string(row.file),
          .sha256 = digest_in(row.file),
          .mebibytes = row.mebibytes,
          .top1 = row.top1,
          .prepared = Preprocessing{row.resize, row.crop, row.interpolation},
          .license = swag ? kSwagLicense : kCodeLicense,
          .license_is_of_code = !swag,
          .license_source = "https://github.com/pytorch/vision#pre-trained-model-license",
          .is_default = row.standing == kDefault};
}

}  // namespace

std::vector<PublishedWeights> torchvision_weights() {
  std::vector<PublishedWeights> all;
  for (const auto& row : kTorchvisionRows) all.push_back(published(row));
  return all;
}

}  // namespace ddptrain
