// timm 1.0's weights of networks whose tensors it calls as torchvision does: ResNets that were
// trained by the recipe A1 of "ResNet strikes back" (Wightman et al. 2021). Its other networks have
// names of their own.
#include "weights/publishers.h"

namespace ddptrain {
namespace {

/// Prepared as timm evaluates them: 288 pixels, all of the image. Their cards state the licence.
PublishedWeights a1(std::string_view model, std::string_view file, std::string_view digest,
                    double mebibytes) {
  return {.model = model,
          .name = "a1_in1k",
          .publisher = "timm",
          .url =
              "https://github.com/huggingface/pytorch-image-models/releases/download/"
              "v0.1-rsb-weights/" +
              std::string(file),
          .sha256 = digest,
          .mebibytes = mebibytes,
          .prepared = Preprocessing{288, 288, "bicubic"},
          .license = "Apache-2.0",
          .license_source = "https://huggingface.co/timm/" + std::string(model) + ".a1_in1k"};
}

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
  // The card of this one could not be seen; those of its kin state the same licence.
  for (auto& weights : all)
    if (weights.model == "resnet101") weights.license_source.clear();
  return all;
}

}  // namespace ddptrain
