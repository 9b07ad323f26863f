// The residual networks of torchvision: He et al. 2016 with the stride in the 3x3 convolution, wide
// (Zagoruyko and Komodakis 2016) and ResNeXt (Xie et al. 2017). Names, order and first weights are
// torchvision's.
#pragma once

#include <array>
#include <string>

#include "models/model.h"

namespace ddptrain {

struct ResNetPlan {
  enum class Block { basic, bottleneck };
  Block block = Block::basic;
  std::array<std::int64_t, 4> blocks = {2, 2, 2, 2};
  std::int64_t groups = 1;
  std::int64_t width_per_group = 64;
};

Entry<Model> resnet_entry(std::string name, std::string doc, const ResNetPlan& plan);

}  // namespace ddptrain
