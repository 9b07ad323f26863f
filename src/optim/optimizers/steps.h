// Pieces of a step that several optimizers share; lists of tensors, one kernel where torch has one.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "optim/stateful.h"

namespace ddptrain {

/// Decoupled weight decay: parameters times 1 - lr * weight_decay; heeds u.refused.
void decay_parameters(const Update& u);

/// u.refused as torch's fused optimizers take it.
inline std::optional<at::Tensor> found_inf(const Update& u) {
  return u.refused.defined() ? std::optional(u.refused) : std::nullopt;
}

/// The gradients to descend: negated to maximize, plus weight_decay * parameters (L2).
std::vector<at::Tensor> descent(const Update& u, bool maximize, double weight_decay);

/// average <- decay * average + (1 - decay) * value, or * value squared.
void running_mean(const std::vector<at::Tensor>& average, const std::vector<at::Tensor>& value,
                  double decay);
void running_mean_of_squares(const std::vector<at::Tensor>& average,
                             const std::vector<at::Tensor>& value, double decay);

/// The L2 norm of each tensor, one vector.
at::Tensor norms(const std::vector<at::Tensor>& tensors);

/// Each tensor times its entry of `factors`, in place.
void scale_each(const std::vector<at::Tensor>& tensors, const at::Tensor& factors);

}  // namespace ddptrain
