// fastai.vision.models.xresnet.xse_resnext18.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xse_resnext18_model() {
  return xresnet_entry("xse_resnext18", "fastai's xresnext18 with squeeze-and-excitation.",
                       {.block = XResNetPlan::Block::resnext,
                        .expansion = 1,
                        .blocks = {2, 2, 2, 2},
                        .reduction = 16});
}

}  // namespace ddptrain
