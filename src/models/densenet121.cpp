// torchvision.models.densenet121.
#include "models/catalog.h"
#include "models/densenet.h"

namespace ddptrain {

Entry<Model> densenet121_model() {
  return densenet_entry("densenet121",
                        "Densely connected network with 121 layers, as in torchvision.",
                        {.layers = {6, 12, 24, 16}});
}

}  // namespace ddptrain
