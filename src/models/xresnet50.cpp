// fastai.vision.models.xresnet.xresnet50.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xresnet50_model() {
  return xresnet_entry(
      "xresnet50", "fastai's ResNet-D with 50 layers.",
      {.block = XResNetPlan::Block::plain, .expansion = 4, .blocks = {3, 4, 6, 3}, .reduction = 0});
}

}  // namespace ddptrain
