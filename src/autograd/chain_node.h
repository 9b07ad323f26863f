// Nodes of our own that follow each other.
#pragma once

#include <torch/csrc/autograd/function.h>

namespace ddptrain {

/// A node on the CPU with one input and at most one edge that counts, the first. It needs nothing
/// of the engine that runs it, so back_propagate() may.
class ChainNode : public torch::autograd::Node {
 public:
  using Node::Node;
};

}  // namespace ddptrain
