// The VGG networks of torchvision (Simonyan and Zisserman 2015): five stages of 3x3 convolutions,
// each halved at its end, then three linear layers. Names, order and first weights are
// torchvision's.
#pragma once

#include <array>
#include <string>

#include "models/model.h"

namespace ddptrain {

struct VggPlan {
  std::array<std::int64_t, 5> convolutions = {1, 1, 2, 2, 2};  // of each stage
  bool batch_norm = false;
};

Entry<Model> vgg_entry(std::string name, std::string doc, const VggPlan& plan);

}  // namespace ddptrain
