// Activation checkpointing: a block's inputs are kept, what it computes on the way is computed
// again in the backward pass (torch.utils.checkpoint).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "models/blocks.h"

namespace ddptrain {

/// Runs a block of a model, which Pass::blocks observes: `forward` of an input [rows, ...] under a
/// pass. Where the pass asks for it (Pass::recompute), only the input is kept, and the backward
/// pass calls `forward` again with Pass::repeated set; otherwise this is `forward(input, pass)`.
/// Gradients are the same to the last bit. `block` owns the parameters that `forward` uses.
at::Tensor run_block(const Module& block, const at::Tensor& input, const Pass& pass,
                     const std::function<at::Tensor(const at::Tensor&, const Pass&)>& forward);

/// The same of the block's own forward().
at::Tensor run_block(Module& block, const at::Tensor& input, const Pass& pass);

}  // namespace ddptrain
