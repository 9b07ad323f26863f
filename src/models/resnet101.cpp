// torchvision.models.resnet101.
#include "models/catalog.h"
#include "models/resnet.h"

namespace ddptrain {

Entry<Model> resnet101_model() {
  return resnet_entry("resnet101",
                      "Residual network with 101 layers in bottlenecks, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 4, 23, 3}});
}

}  // namespace ddptrain
