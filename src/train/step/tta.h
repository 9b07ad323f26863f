// Test-time augmentation: predictions over several passes become one (fastai's Learner.tta).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "data/order/shard.h"
#include "losses/loss.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// Each micro-batch followed by its `n` passes through the training transforms.
std::vector<Micro> with_passes(const std::vector<Micro>& micros, std::int64_t n);

/// One output for the rows of all: outputs[0] is the plain pass. Predictions (probabilities, where
/// the loss has an activation) are mean(augmented) * (1 - beta) + plain * beta, or the largest of
/// all.
at::Tensor combined(const std::vector<at::Tensor>& outputs, const Loss& loss, const TtaSpec& tta);

}  // namespace ddptrain
