// Gradients of which each rank has a part.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "models/pass.h"

namespace ddptrain {

struct SharedGradients {
  Statistics* ranks = nullptr;  // null: this one has all
  bool in_doubles = false;      // norms add up doubles; always where ranks have parts
  at::TensorOptions options{};  // type and device of gradients, on ranks without any too
};

/// The p-norm of all entries of all tensors as one vector, without dimensions, on their device.
/// Without ranks there is at least one tensor; with them, `gradients` are the parts of this rank,
/// and all ranks call it together. In doubles, how gradients are cut shows in the last bit of one
/// norm in millions.
at::Tensor gradient_norm(const std::vector<at::Tensor>& gradients, double p = 2,
                         const SharedGradients& shared = {});

}  // namespace ddptrain
