// EfficientNet of torchvision (Tan and Le 2019). Names, order and first weights are torchvision's.
#pragma once

#include <string>

#include "models/model.h"

namespace ddptrain {

struct EfficientNetPlan {
  double width = 1;  // factor on channels
  double depth = 1;  // factor on the blocks of every stage
};

Entry<Model> efficientnet_entry(std::string name, std::string doc, const EfficientNetPlan& plan);

}  // namespace ddptrain
