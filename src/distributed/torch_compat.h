// Everything of c10d that changes between LibTorch versions; written for 2.11. Heavy: for the .cpp
// files of this folder that build process groups.
#pragma once

#include <torch/version.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

#if TORCH_VERSION_MAJOR != 2 || TORCH_VERSION_MINOR != 11
#error \
    "distributed/ was written for LibTorch 2.11: read the release notes of c10d, then change this"
#endif

#include <chrono>
#include <memory>
#include <string>

#include "distributed/group.h"

namespace ddptrain {

using Backend = c10::intrusive_ptr<c10d::Backend>;
using Store = c10::intrusive_ptr<c10d::Store>;

/// One group of ranks: its name keeps its keys in the store apart.
struct BackendOptions {
  std::string name;
  int rank = 0;
  int size = 1;
  bool loopback = true;                        // every rank runs on this node
  std::chrono::milliseconds start{120'000};    // to connect
  std::chrono::milliseconds timeout{300'000};  // of one collective
};

/// "300 s" or "1500 ms"
std::string in_words(std::chrono::milliseconds time);

/// Gloo between processes: CPU tensors.
Backend make_gloo(const Store& store, const BackendOptions& options);
/// NCCL from the CUDA plug-in: tensors on CUDA device `device`.
Backend make_nccl(const Store& store, const BackendOptions& options, int device);

/// A Group over a c10d back end. `what` names it in messages ("gradients").
std::unique_ptr<Group> make_backend_group(Backend backend, const BackendOptions& options);

}  // namespace ddptrain
