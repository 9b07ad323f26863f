// timm's names of the blocks that EfficientNet and MobileNet V3 share.
#pragma once

#include <string>
#include <vector>

#include "models/name_table.h"

namespace ddptrain {

/// Of a block that widens its input, whose chain is `block`: timm's InvertedResidual.
std::vector<NameRow> inverted_residual_parts();

/// Whole rows for a block at `ours` that does not: timm's DepthwiseSeparableConv at `theirs`.
void add_separable_block(std::vector<NameRow>& rows, const std::string& ours,
                         const std::string& theirs);

}  // namespace ddptrain
