// ConvNeXt of torchvision (Liu et al. 2022). Names, order and first weights are torchvision's.
#pragma once

#include <array>
#include <string>

#include "models/model.h"

namespace ddptrain {

struct ConvNeXtPlan {
  std::array<std::int64_t, 4> channels;
  std::array<std::int64_t, 4> blocks;
};

Entry<Model> convnext_entry(std::string name, std::string doc, const ConvNeXtPlan& plan);

}  // namespace ddptrain
