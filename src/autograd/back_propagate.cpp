#include "autograd/back_propagate.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

#include "autograd/chain_node.h"

namespace ddptrain {
namespace {

using torch::autograd::Node;
using torch::autograd::variable_list;

/// As an edge owns it (torch_compat.h); null at the end of a chain.
using OwnedNode = decltype(torch::autograd::Edge::function);

OwnedNode node_before(const Node& node) {
  return node.num_outputs() > 0 ? node.next_edge(0).function : OwnedNode();
}

bool is_link(Node& node) {
  return dynamic_cast<const ChainNode*>(&node) != nullptr && node.num_inputs() == 1 &&
         node.num_outputs() <= 1 && node.pre_hooks().empty() && node.post_hooks().empty() &&
         node.tensor_pre_hooks().empty() && node.retains_grad_hooks().empty();
}

bool is_chain(OwnedNode last) {
  for (; last; last = node_before(*last))
    if (!is_link(*last)) return false;
  return true;
}

}  // namespace

void back_propagate(const at::Tensor& output, const at::Tensor& gradient) {
  auto node = output.grad_fn();
  if (!node || !is_chain(node)) return output.backward(gradient);
  const at::NoGradGuard no_grad;
  variable_list gradients{gradient};
  while (node) {
    gradients = (*node)(std::move(gradients));
    node->release_variables();
    node = node_before(*node);
  }
}

}  // namespace ddptrain
