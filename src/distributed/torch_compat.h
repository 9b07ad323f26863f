// Everything that changes between LibTorch versions; written for 2.11 and 2.15. Heavy: for the .cpp
// files of this folder that build process groups.
//   2.15 calls _allgather_base all_gather_single, _reduce_scatter_base reduce_scatter_single and
//   alltoall_base all_to_all_single, and keeps the old names, which forward. Where it drops them,
//   the new ones belong here.
//   2.15 counts the owners of an autograd node in the node (c10::intrusive_ptr); ours say auto.
#pragma once

#include <torch/version.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#if TORCH_VERSION_MAJOR != 2 || (TORCH_VERSION_MINOR != 11 && TORCH_VERSION_MINOR != 15)
#error \
    "written for LibTorch 2.11 and 2.15: read the release notes of c10d and autograd, then change this"
#endif

#include <chrono>
#include <memory>
#include <string>

#include "accelerator/process_group.h"
#include "distributed/group.h"
#include "distributed/lost_peer.h"

namespace ddptrain {

/// A Group over a c10d back end. `what` names it in messages ("gradients").
std::unique_ptr<Group> make_backend_group(Backend backend, const BackendOptions& options);

}  // namespace ddptrain
