// torchvision.models.resnet152.
#include "models/catalog.h"
#include "models/resnet.h"

namespace ddptrain {

Entry<Model> resnet152_model() {
  return resnet_entry("resnet152",
                      "Residual network with 152 layers in bottlenecks, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 8, 36, 3}});
}

}  // namespace ddptrain
