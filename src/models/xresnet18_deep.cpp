// fastai.vision.models.xresnet.xresnet18_deep.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xresnet18_deep_model() {
  return xresnet_entry("xresnet18_deep", "fastai's xresnet18 with two more stages.",
                       {.block = XResNetPlan::Block::plain,
                        .expansion = 1,
                        .blocks = {2, 2, 2, 2, 1, 1},
                        .reduction = 0});
}

}  // namespace ddptrain
