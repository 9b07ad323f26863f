// torchvision.models.resnet34.
#include "models/catalog.h"
#include "models/resnet.h"

namespace ddptrain {

Entry<Model> resnet34_model() {
  return resnet_entry("resnet34", "Residual network with 34 layers, as in torchvision.",
                      {.block = ResNetPlan::Block::basic, .blocks = {3, 4, 6, 3}});
}

}  // namespace ddptrain
