// timm 1.0's weights whose files are named after their digests: ResNets that were trained by the
// recipe A1 of "ResNet strikes back" (Wightman et al. 2021), and those whose addresses timm's own
// source gives. What it has on the Hugging Face Hub alone has no digest that could be compared.
#include "weights/publishers.h"

#include <fmt/format.h>

namespace ddptrain {
namespace {

/// Prepared as timm evaluates them: 288 pixels, all of the image. Their cards state the license.
PublishedWeights a1(std::string_view model, std::string_view file, std::string_view digest,
                    double mebibytes) {
  return {.model = model,
          .name = "a1_in1k",
          .publisher = "timm",
          .url = fmt::format("https://github.com/huggingface/pytorch-image-models/releases/"
                             "download/v0.1-rsb-weights/{}",
                             file),
          .sha256 = digest,
          .mebibytes = mebibytes,
          .prepared = Preprocessing{288, 288, "bicubic"},
          .license = "Apache-2.0",
          .license_source = fmt::format("https://huggingface.co/timm/{}.a1_in1k", model)};
}

constexpr std::string_view kReleases =
    "https://github.com/huggingface/pytorch-image-models/releases/download/v0.1-weights/";
constexpr std::string_view kDeit = "https://dl.fbaipublicfiles.com/deit/";

/// Weights as timm's source has them: a row of default_cfgs.
struct Configured {
  std::string_view model, name, file, digest;
  double mebibytes;
  int resize, crop;  // equal: all of the image; else the middle of a larger one
};

PublishedWeights published(const Configured& row, std::string_view folder,
                           std::string_view source) {
  return {.model = row.model,
          .name = row.name,
          .publisher = "timm",
          .url = fmt::format("{}{}-{}.pth", folder, row.file, row.digest),
          .sha256 = row.digest,
          .mebibytes = row.mebibytes,
          .prepared = Preprocessing{row.resize, row.crop, "bicubic"},
          .license = "Apache-2.0",
          .license_source = fmt::format(
              "https://github.com/huggingface/pytorch-image-models/blob/v1.0.31/timm/models/{}",
              source)};
}

constexpr Configured kMobile[] = {
    {"efficientnet_b0", "ra_in1k", "efficientnet_b0_ra", "3dd342df", 20.4, 256, 224},
    {"efficientnet_b1", "ft_in1k", "efficientnet_b1", "533bc792", 30, 256, 256},
    {"efficientnet_b2", "ra_in1k", "efficientnet_b2_ra", "bcdf34b7", 35, 288, 288},
    {"efficientnet_b3", "ra2_in1k", "efficientnet_b3_ra2", "cf984f9c", 47, 320, 320},
    {"efficientnet_b4", "ra2_in1k", "efficientnet_b4_ra2_320", "7eb33cd5", 74.3, 384, 384},
    {"mobilenet_v2", "ra_in1k", "mobilenetv2_100_ra", "b33bc2c4", 13.5, 256, 224},
    {"mobilenet_v3_large", "ra_in1k", "mobilenetv3_large_100_ra", "f55367f5", 21.1, 256, 224},
    {"mobilenet_v3_small", "lamb_in1k", "mobilenetv3_small_100_lamb", "266a294c", 9.8, 256, 224},
};

constexpr Configured kDeitRows[] = {
    {"deit_ti_16", "fb_in1k", "deit_tiny_patch16_224", "a1311bcf", 21.8, 248, 224},
    {"deit_ti_16", "distilled_fb_in1k", "deit_tiny_distilled_patch16_224", "b40b3cf7", 22.6, 248,
     224},
    {"deit_s_16", "fb_in1k", "deit_small_patch16_224", "cd65a155", 84.1, 248, 224},
    {"deit_s_16", "distilled_fb_in1k", "deit_small_distilled_patch16_224", "649709d9", 85.6, 248,
     224},
    {"deit_b_16", "fb_in1k", "deit_base_patch16_224", "b5f2ef4d", 330.2, 248, 224},
    {"deit_b_16", "fb_in1k_384", "deit_base_patch16_384", "8de9b5d1", 331.3, 384, 384},
    {"deit_b_16", "distilled_fb_in1k", "deit_base_distilled_patch16_224", "df68dfff", 333.1, 248,
     224},
};

}  // namespace

std::vector<PublishedWeights> timm_weights() {
  std::vector<PublishedWeights> all{
      a1("resnet18", "resnet18_a1_0-d63eafa0.pth", "d63eafa0", 44.7),
      a1("resnet34", "resnet34_a1_0-46f8f793.pth", "46f8f793", 83.3),
      a1("resnet50", "resnet50_a1_0-14fe96d1.pth", "14fe96d1", 97.8),
      a1("resnet101", "resnet101_a1_0-cdcb52a9.pth", "cdcb52a9", 170.5),
      a1("resnet152", "resnet152_a1_0-2eee8a7a.pth", "2eee8a7a", 230.4),
      a1("resnext50_32x4d", "resnext50_32x4d_a1_0-b5a91a1d.pth", "b5a91a1d", 95.8),
  };
  for (const auto& row : kMobile)
    all.push_back(
        published(row, kReleases,
                  row.model.starts_with("mobilenet_v3") ? "mobilenetv3.py" : "efficientnet.py"));
  for (const auto& row : kDeitRows) {
    all.push_back(published(row, kDeit, "deit.py"));
    all.back().is_default = row.name == "fb_in1k";
  }
  // The card of this one could not be seen; those of its kin state the same license.
  for (auto& weights : all)
    if (weights.model == "resnet101") weights.license_source.clear();
  return all;
}

}  // namespace ddptrain
