// The xresnets of fastai 2.8: ResNet-D (He et al., "Bag of tricks", 2019) with a choice of
// activation, pooling, self-attention, squeeze-and-excitation and grouped convolutions. Names,
// order and first weights are fastai's.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// What a name stands for. `se` is fastai's SEBlock, `resnext` its SEResNeXtBlock (groups of 32,
/// base width 4); `reduction` 0 leaves squeeze-and-excitation out.
struct XResNetPlan {
  enum class Block { plain, se, resnext };
  Block block = Block::plain;
  std::int64_t expansion = 1;
  std::vector<std::int64_t> blocks = {2, 2, 2, 2};
  std::int64_t reduction = 0;
};

Entry<Model> xresnet_entry(std::string name, std::string doc, const XResNetPlan& plan);

}  // namespace ddptrain
