// fastai.vision.models.xresnet.xse_resnet34.
#include "models/catalog.h"
#include "models/xresnet.h"

namespace ddptrain {

Entry<Model> xse_resnet34_model() {
  return xresnet_entry(
      "xse_resnet34", "fastai's xresnet34 with squeeze-and-excitation.",
      {.block = XResNetPlan::Block::se, .expansion = 1, .blocks = {3, 4, 6, 3}, .reduction = 16});
}

}  // namespace ddptrain
