// fastai.vision.models.xresnet.xresnext18.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xresnext18_model() {
  return xresnet_entry("xresnext18", "fastai's xresnet18 with grouped convolutions.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 1,
                        .blocks = {2, 2, 2, 2},
                        .reduction = 0});
}

}  // namespace ddptrain
