// Test-time augmentation: predictions over several passes become one (fastai's Learner.tta).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "data/dataset.h"
#include "losses/loss.h"
#include "recipe/recipe.h"
#include "sources/order/shard.h"

namespace ddptrain {

/// Each micro-batch followed by its `n` passes through the training transforms.
std::vector<Micro> with_passes(const std::vector<Micro>& micros, std::int64_t n);

/// Predictions of a pass, brought to where the plain pass has them; NaN where it does not show
/// them.
using Align = std::function<at::Tensor(const at::Tensor& predictions, std::size_t pass)>;

/// One output for the rows of all: outputs[0] is the plain pass. Predictions (probabilities, where
/// the loss has an activation) are mean(augmented) * (1 - beta) + plain * beta, or the largest of
/// all; of `align`ed passes those that show a place, and the plain one where none does.
at::Tensor combined(const std::vector<at::Tensor>& outputs, const Loss& loss, const TtaSpec& tta,
                    const Align& align = {});

/// How the passes over `batches`, the first of which is the plain one, are brought together.
Align alignment(const Dataset& data, const std::vector<Batch>& batches);

}  // namespace ddptrain
