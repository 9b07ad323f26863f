// fastai.vision.models.xresnet.xse_resnet18.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xse_resnet18_model() {
  return xresnet_entry(
      "xse_resnet18", "fastai's xresnet18 with squeeze-and-excitation.",
      {.block = XResNetPlan::Block::se, .expansion = 1, .blocks = {2, 2, 2, 2}, .reduction = 16});
}

}  // namespace ddptrain
