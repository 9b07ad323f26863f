// The densely connected networks of torchvision (Huang et al. 2017, DenseNet-BC). Names, order and
// first weights are torchvision's.
#pragma once

#include <array>
#include <string>

#include "models/model.h"

namespace ddptrain {

struct DenseNetPlan {
  std::array<std::int64_t, 4> layers = {6, 12, 24, 16};  // of each block
  std::int64_t growth = 32;                              // channels that a layer adds
  std::int64_t stem = 64;                                // channels of the first convolution
};

Entry<Model> densenet_entry(std::string name, std::string doc, const DenseNetPlan& plan);

}  // namespace ddptrain
