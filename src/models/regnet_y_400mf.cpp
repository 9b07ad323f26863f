// torchvision.models.regnet_y_400mf.
#include "models/catalog.h"
#include "models/regnet.h"

namespace ddptrain {

Entry<Model> regnet_y_400mf_model() {
  return regnet_entry(
      "regnet_y_400mf", "RegNetY with 400 million multiplications, as in torchvision.",
      {.blocks = {1, 3, 6, 6}, .channels = {48, 104, 208, 440}, .group_width = 8, .squeeze = true});
}

}  // namespace ddptrain
