// torchvision.models.efficientnet_b0.
#include "models/catalog.h"
#include "models/efficientnet.h"

namespace ddptrain {

Entry<Model> efficientnet_b0_model() {
  return efficientnet_entry("efficientnet_b0", "EfficientNet B0, as in torchvision.", {});
}

}  // namespace ddptrain
