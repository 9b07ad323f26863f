// torchvision.models.resnext50_32x4d.
#include "models/catalog.h"
#include "models/resnet.h"

namespace ddptrain {

Entry<Model> resnext50_32x4d_model() {
  return resnet_entry("resnext50_32x4d",
                      "ResNeXt-50 with 32 groups of 4 channels, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck,
                       .blocks = {3, 4, 6, 3},
                       .groups = 32,
                       .width_per_group = 4});
}

}  // namespace ddptrain
