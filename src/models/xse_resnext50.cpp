// fastai.vision.models.xresnet.xse_resnext50.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xse_resnext50_model() {
  return xresnet_entry("xse_resnext50", "fastai's xresnext50 with squeeze-and-excitation.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 4,
                        .blocks = {3, 4, 6, 3},
                        .reduction = 16});
}

}  // namespace ddptrain
