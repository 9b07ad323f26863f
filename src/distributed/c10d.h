// c10d and the process groups of ours over it. Heavy: for the .cpp files of this folder that build
// process groups.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

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
