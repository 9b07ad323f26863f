// torchvision.models.resnet50.
#include "models/catalog.h"
#include "models/resnet.h"

namespace ddptrain {

Entry<Model> resnet50_model() {
  return resnet_entry("resnet50",
                      "Residual network with 50 layers in bottlenecks, as in torchvision.",
                      {.block = ResNetPlan::Block::bottleneck, .blocks = {3, 4, 6, 3}});
}

}  // namespace ddptrain
