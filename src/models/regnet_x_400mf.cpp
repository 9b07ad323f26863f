// torchvision.models.regnet_x_400mf.
#include "models/catalog.h"
#include "models/regnet.h"

namespace ddptrain {

Entry<Model> regnet_x_400mf_model() {
  return regnet_entry("regnet_x_400mf",
                      "RegNetX with 400 million multiplications, as in torchvision.",
                      {.blocks = {1, 2, 7, 12}, .channels = {32, 64, 160, 400}, .group_width = 16});
}

}  // namespace ddptrain
