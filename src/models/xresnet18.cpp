// fastai.vision.models.xresnet.xresnet18.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xresnet18_model() {
  return xresnet_entry(
      "xresnet18", "fastai's ResNet-D with 18 layers.",
      {.block = XResNetPlan::Block::plain, .expansion = 1, .blocks = {2, 2, 2, 2}, .reduction = 0});
}

}  // namespace ddptrain
