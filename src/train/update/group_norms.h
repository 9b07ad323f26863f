// Norms of gradients and weights by layer group, where a recipe asks for them.
#pragma once

#include <ATen/core/Tensor.h>

#include "callbacks/callback.h"
#include "optim/shared_gradients.h"

namespace ddptrain {

class Optimizer;

/// Doubles [2, layer groups] on the weights' device, without a wait: the 2-norm of a group's
/// gradients, NaN where it has none, and of all its weights.
at::Tensor group_norms(const Optimizer& optimizer, const SharedGradients& shared = {});

/// "train/gradient_norm/0" and "train/weight_norm/0" for layer group 0, and so on; of the host.
NamedValues named_norms(const at::Tensor& norms);

}  // namespace ddptrain
