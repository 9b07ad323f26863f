// Process groups of LibTorch (c10d), by name: who needs more includes distributed/c10d.h.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace ddptrain {

using Backend = c10::intrusive_ptr<c10d::Backend>;
using Store = c10::intrusive_ptr<c10d::Store>;

/// One group of ranks: its name keeps its keys in the store apart.
struct BackendOptions {
  std::string name;
  int rank = 0;
  int size = 1;
  bool loopback = true;                        // every rank runs on this node
  std::string address = {};                    // else: this node's, as the others reach it
  std::chrono::milliseconds start{120'000};    // to connect
  std::chrono::milliseconds timeout{300'000};  // of one collective
  bool waits_for_peers = false;                // at its shutdown, and peers may never come (NCCL)
  std::shared_ptr<std::atomic<int>> waits =
      {};  // counts calls that wait for peers; null: not counted
};

/// Gloo between processes: CPU tensors.
Backend make_gloo(const Store& store, const BackendOptions& options);

}  // namespace ddptrain
