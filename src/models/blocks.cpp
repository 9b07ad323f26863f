#include "models/blocks.h"

namespace ddptrain {
namespace {

void find_blocks(const Module& module, std::vector<const Module*>& blocks) {
  for (const auto* child : module.children())
    if (child->is_block())
      blocks.push_back(child);
    else
      find_blocks(*child, blocks);
}

}  // namespace

std::vector<const Module*> blocks_in(const Module& model) {
  std::vector<const Module*> blocks;
  find_blocks(model, blocks);
  return blocks;
}

}  // namespace ddptrain
