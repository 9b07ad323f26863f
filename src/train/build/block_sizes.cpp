#include "train/build/block_sizes.h"

#include <algorithm>

#include "models/blocks.h"
#include "models/model.h"

namespace ddptrain {
namespace {

std::int64_t parameters_of(const Module& module) {
  std::int64_t elements = 0;
  for (const auto& named : module.named_parameters()) elements += named.tensor.numel();
  return elements;
}

std::int64_t cast_parameters_of(const Module& block) {
  std::int64_t elements = 0;
  for (const auto& [path, module] : block.modules())
    for (const auto& parameter : module->autocast_parameters())
      if (parameter.defined()) elements += parameter.numel();
  return elements;
}

}  // namespace

BlockSizes block_sizes(const Model& model) {
  BlockSizes sizes;
  sizes.parameters = sizes.root = parameters_of(model);
  for (const auto* block : blocks_in(model)) {
    const auto elements = parameters_of(*block);
    sizes.root -= elements;
    sizes.largest = std::max(sizes.largest, elements);
    sizes.cast += cast_parameters_of(*block);
  }
  return sizes;
}

}  // namespace ddptrain
