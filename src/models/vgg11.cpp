// torchvision.models.vgg11.
#include "models/catalog.h"
#include "models/vgg.h"

namespace ddptrain {

Entry<Model> vgg11_model() {
  return vgg_entry("vgg11", "VGG with 11 layers, as in torchvision.",
                   {.convolutions = {1, 1, 2, 2, 2}});
}

}  // namespace ddptrain
