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

/// Where the slices of members begin in a buffer that all of them have: that of member r is
/// [cuts[r], cuts[r + 1]), in elements. One number more than there are members.
using Cuts = std::vector<std::int64_t>;

/// Group::transport() of ranks that share it.
inline constexpr const char* kSharedMemory = "shared memory";

/// Collectives in the field's meaning. All members call the same ones in the same order, with
/// tensors of the same shape and type. Blocking ones return finished (on CUDA: in stream order);
/// errors (a peer died, a timeout) are Errors with Exit::device. Tensors may have any strides and
/// no elements.
class Group : public Statistics {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// What its tensors go through: kSharedMemory, or the back end ("gloo", "nccl"); empty for
  /// members of one process.
  virtual std::string transport() const { return {}; }
  /// A tensor of zeros, [elements], whose sums take the least time. All members call it together.
  virtual at::Tensor buffer(std::int64_t elements, const at::TensorOptions& options);
  virtual std::unique_ptr<Pending> all_reduce_async(at::Tensor& tensor) = 0;
  virtual void broadcast(at::Tensor& tensor, int root) = 0;
  /// Leaves this member's slice of the sum over members at its place in `flat`, [elements]. What
  /// the other slices hold afterwards is undefined.
  virtual std::unique_ptr<Pending> reduce_scatter_async(at::Tensor& flat, const Cuts& cuts);
  /// Every member's slice of `flat`, [elements], to all members, at its place.
  virtual std::unique_ptr<Pending> all_gather_async(at::Tensor& flat, const Cuts& cuts) = 0;
  /// All-to-all: into row r of `parts`, [members, elements of this member's slice], what member r
  /// has in this member's slice of its `flat`.
  virtual std::unique_ptr<Pending> exchange_async(const at::Tensor& flat, const Cuts& cuts,
                                                  at::Tensor& parts) = 0;
  /// From one member to another, which calls the other function with a tensor of the same shape and
  /// type. Several between the same two arrive in order. On the CPU.
  virtual void send(const at::Tensor& tensor, int to) = 0;
  virtual void receive(at::Tensor& tensor, int from) = 0;
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

/// The other members of a group on this one's node, and those that have its place on theirs. Nodes
/// have as many members each, next to each other in rank order.
struct NodeGroups {
  std::unique_ptr<Group> node, across;
};

/// The collectives of `group`, but sums are made in rank order by the member that a slice belongs
/// to: with `nodes` those of each node first, and of these in order of nodes. They depend on the
/// number of members and of nodes alone: neither on the back end, nor on where a number lies in its
/// buffer.
std::unique_ptr<Group> make_ordered_group(std::unique_ptr<Group> group, NodeGroups nodes = {});

/// The slice of a member, a view.
at::Tensor slice_of(const at::Tensor& flat, const Cuts& cuts, int member);

/// Slices of nearly equal size whose lengths are multiples of `unit` elements, but for the last
/// that has any.
Cuts even_cuts(std::int64_t elements, int members, std::int64_t unit = 1);

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

/// Root's tensors to all, several small ones in one broadcast; in place.
void broadcast_tensors(Group& group, const std::vector<at::Tensor>& tensors, int root);

}  // namespace ddptrain
