// The backward pass of a loss.
#pragma once

#include <ATen/core/Tensor.h>

namespace ddptrain {

/// output.backward(gradient), of the same sizes. A graph that is a chain of nodes of our own
/// (chain_node.h) is walked here: LibTorch's engine takes as long for its books as a small layer
/// for its numbers.
void back_propagate(const at::Tensor& output, const at::Tensor& gradient);

}  // namespace ddptrain
