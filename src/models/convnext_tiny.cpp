// torchvision.models.convnext_tiny.
#include "models/catalog.h"
#include "models/convnext.h"

namespace ddptrain {

Entry<Model> convnext_tiny_model() {
  return convnext_entry("convnext_tiny", "ConvNeXt Tiny, as in torchvision.",
                        {.channels = {96, 192, 384, 768}, .blocks = {3, 3, 9, 3}});
}

}  // namespace ddptrain
