// torchvision.models.wide_resnet50_2.
#include "models/catalog.h"
#include "models/resnet.h"

namespace ddptrain {

Entry<Model> wide_resnet50_2_model() {
  return resnet_entry(
      "wide_resnet50_2",
      "ResNet-50 with twice the channels inside each bottleneck, as in torchvision.",
      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 4, 6, 3}, .width_per_group = 128});
}

}  // namespace ddptrain
