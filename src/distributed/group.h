// Who computes together: ranks in processes, replicas in threads, or one alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/pass.h"

namespace ddptrain {

/// A collective under way. wait() returns when the tensor holds the result.
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void wait() = 0;
};

/// Collectives in the field's meaning. All members call the same ones in the same order, with
/// tensors of the same shape and type. Blocking ones return finished (on CUDA: in stream order);
/// errors (a peer died, a timeout) are Errors with Exit::device. Tensors may have any strides and
/// no elements.
class Group : public Statistics {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) = 0;
  virtual void broadcast(at::Tensor& tensor, int root) = 0;
  virtual void barrier() = 0;
  /// Whether its collectives are work of the device, which a graph can hold (accelerator/graph.h).
  virtual bool can_be_captured() const { return false; }
  /// Ends the group for this member after a failure: the others get an Error with `reason` (in
  /// other processes: when this one ends). A group whose member is destroyed has lost it in the
  /// same way.
  virtual void abort(const std::string& reason) = 0;
};

/// A group of one.
std::unique_ptr<Group> make_single_group();

/// `size` members in one process, one per thread; they meet at a barrier, and sums run in rank
/// order. Who waits for longer than `timeout` gets an Error that names who is missing.
std::vector<std::unique_ptr<Group>> make_thread_groups(
    int size, std::chrono::milliseconds timeout = std::chrono::minutes(5));

/// Rows [n, ...] of every member in rank order. Members may have different numbers of rows, 0 too,
/// of one shape and type.
std::vector<at::Tensor> gather_rows(Group& group, const at::Tensor& rows);

/// Bytes of every member in rank order, of any length.
std::vector<std::string> gather_text(Group& group, const std::string& text);
std::string broadcast_text(Group& group, const std::string& text, int root);

/// Root's tensors to all in one broadcast, whatever their types; in place.
void broadcast_tensors(Group& group, const std::vector<at::Tensor>& tensors, int root);

}  // namespace ddptrain
