// Everything of c10d that changes between LibTorch versions; written for 2.11. Heavy: for the .cpp
// files of this folder that build process groups.
#pragma once

#include <torch/version.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#if TORCH_VERSION_MAJOR != 2 || (TORCH_VERSION_MINOR != 11 && TORCH_VERSION_MINOR != 15)
#error \
    "distributed/ was written for LibTorch 2.11: read the release notes of c10d, then change this"
#endif

#include <chrono>
#include <memory>
#include <string>

#include "accelerator/process_group.h"
#include "distributed/group.h"

namespace ddptrain {

/// "300 s" or "1500 ms"
std::string in_words(std::chrono::milliseconds time);

/// A Group over a c10d back end. `what` names it in messages ("gradients").
std::unique_ptr<Group> make_backend_group(Backend backend, const BackendOptions& options);

}  // namespace ddptrain
