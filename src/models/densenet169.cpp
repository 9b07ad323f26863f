// torchvision.models.densenet169.
#include "models/catalog.h"
#include "models/densenet.h"

namespace ddptrain {

Entry<Model> densenet169_model() {
  return densenet_entry("densenet169",
                        "Densely connected network with 169 layers, as in torchvision.",
                        {.layers = {6, 12, 32, 32}});
}

}  // namespace ddptrain
