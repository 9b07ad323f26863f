// fastai.vision.models.xresnet.xresnet101.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xresnet101_model() {
  return xresnet_entry("xresnet101", "fastai's ResNet-D with 101 layers.",
                       {.block = XResNetPlan::Block::plain,
                        .expansion = 4,
                        .blocks = {3, 4, 23, 3},
                        .reduction = 0});
}

}  // namespace ddptrain
