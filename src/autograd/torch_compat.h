// Everything that changes between LibTorch versions; written for 2.11 and 2.15.
//   2.15 counts the owners of an autograd node in the node (c10::intrusive_ptr): make_node.
//   2.15 calls c10d's _allgather_base all_gather_single, _reduce_scatter_base reduce_scatter_single
//   and alltoall_base all_to_all_single, and keeps the old names, which forward. Where it drops
//   them, the new ones belong here.
#pragma once

#include <torch/csrc/autograd/function.h>
#include <torch/version.h>

#include <memory>
#include <utility>

#if TORCH_VERSION_MAJOR != 2 || (TORCH_VERSION_MINOR != 11 && TORCH_VERSION_MINOR != 15)
#error \
    "written for LibTorch 2.11 and 2.15: read the release notes of c10d and autograd, then change this"
#endif

namespace ddptrain {

/// A node of the graph, owned as autograd owns its own: what set_history takes.
template <class Node, class... Arguments>
auto make_node(Arguments&&... arguments) {
#if TORCH_VERSION_MINOR >= 15
  return c10::make_intrusive<Node>(std::forward<Arguments>(arguments)...);
#else
  return std::shared_ptr<Node>(new Node(std::forward<Arguments>(arguments)...),
                               torch::autograd::deleteNode);
#endif
}

}  // namespace ddptrain
