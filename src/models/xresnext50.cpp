// fastai.vision.models.xresnet.xresnext50.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xresnext50_model() {
  return xresnet_entry("xresnext50", "fastai's xresnet50 with grouped convolutions.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 4,
                        .blocks = {3, 4, 6, 3},
                        .reduction = 0});
}

}  // namespace ddptrain
