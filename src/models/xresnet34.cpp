// fastai.vision.models.xresnet.xresnet34.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xresnet34_model() {
  return xresnet_entry(
      "xresnet34", "fastai's ResNet-D with 34 layers.",
      {.block = XResNetPlan::Block::plain, .expansion = 1, .blocks = {3, 4, 6, 3}, .reduction = 0});
}

}  // namespace ddptrain
