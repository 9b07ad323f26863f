// RegNet of torchvision (Radosavovic et al. 2020), X without and Y with squeeze-and-excitation.
// Names, order and first weights are torchvision's.
#pragma once

#include <array>
#include <string>

#include "models/model.h"

namespace ddptrain {

struct RegNetPlan {
  std::array<std::int64_t, 4> blocks;  // of each stage
  std::array<std::int64_t, 4> channels;
  std::int64_t group_width = 1;
  bool squeeze = false;  // to a quarter of a block's input channels
};

Entry<Model> regnet_entry(std::string name, std::string doc, const RegNetPlan& plan);

}  // namespace ddptrain
