// torchvision.models.vgg16_bn.
#include "models/catalog.h"
#include "models/vgg.h"

namespace ddptrain {

Entry<Model> vgg16_bn_model() {
  return vgg_entry("vgg16_bn", "VGG with 16 layers and batch norm, as in torchvision.",
                   {.convolutions = {2, 2, 3, 3, 3}, .batch_norm = true});
}

}  // namespace ddptrain
