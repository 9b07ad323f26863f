// torchvision.models.resnet18.
#include "models/catalog.h"
#include "models/resnet.h"

namespace ddptrain {

Entry<Model> resnet18_model() {
  return resnet_entry("resnet18", "Residual network with 18 layers, as in torchvision.",
                      {.block = ResNetPlan::Block::basic, .blocks = {2, 2, 2, 2}});
}

}  // namespace ddptrain
