// MobileNet V3 of torchvision (Howard et al. 2019). Names, order and first weights are
// torchvision's.
#pragma once

#include <string>
#include <vector>

#include "models/activation.h"
#include "models/model.h"

namespace ddptrain {

struct MobileNetV3Plan {
  struct Block {
    std::int64_t in, kernel, inside, out;
    bool squeeze;
    Activation activation;
    std::int64_t stride;
  };
  std::vector<Block> blocks;
  std::int64_t hidden = 0;  // features between the two last layers
};

Entry<Model> mobilenet_v3_entry(std::string name, std::string doc, const MobileNetV3Plan& plan);

}  // namespace ddptrain
