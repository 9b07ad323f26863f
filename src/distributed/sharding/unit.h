// A unit: parameters that are brought together before they are used, and shared among ranks again
// after that.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "distributed/sharding/flat.h"

namespace ddptrain {

/// A tensor [elements] that is given memory later.
at::Tensor without_memory(std::int64_t elements, const at::TensorOptions& options);

/// Buffers of bytes that units take and give back, so that a step asks the allocator for nothing.
class Slots {
 public:
  Slots(std::int64_t bytes, std::size_t count, at::Device device);
  /// A free one; a bug where there is none.
  std::size_t take();
  std::int64_t bytes() const;
  bool has_free() const { return !free_.empty(); }
  void give_back(std::size_t slot) { free_.push_back(slot); }
  /// Elements of it that begin at a byte.
  at::Tensor buffer(std::size_t slot, std::int64_t first, std::int64_t elements,
                    at::ScalarType type) const;

 private:
  std::vector<at::Tensor> buffers_;
  std::vector<std::size_t> free_;
};

/// How weights travel.
struct Travel {
  at::ScalarType type;
  bool stays;  // the whole buffer is kept, of which this rank's slice is a part where it has the
               // same type
};

/// Weights of a block, or of all that is in none. A rank keeps its slice in the parameters' own
/// type; slices travel in the type of which the parameters are views from now on. Those views are
/// of one storage whose memory comes and goes: what autograd saved of them is there whenever they
/// are.
class UnitWeights {
 public:
  /// Cuts the parameters `members` of the list for `group`; they have no values until assign() and
  /// gather().
  UnitWeights(const std::vector<NamedTensor>& parameters, std::vector<std::size_t> members,
              const Travel& travel, CutAt at, Group& group);

  const Flat& flat() const { return flat_; }
  /// What this rank moves, [elements].
  const at::Tensor& slice() const { return slice_; }
  at::ScalarType type() const { return whole_.scalar_type(); }
  std::int64_t bytes() const;
  /// Of them this rank has so many at all times.
  std::int64_t held_bytes() const;
  bool stays() const { return stays_; }

  /// Gives this rank's slice its part of a member's value, which is whole.
  void assign(std::size_t member, const at::Tensor& value);

  /// Begins to bring all slices into `memory`, [elements] of type(); of one that stays, into its
  /// buffer.
  void gather(const at::Tensor& memory = {});
  /// Waits for them: the parameters have their values.
  void wait();
  bool is_there() const { return there_; }
  bool is_coming() const { return pending_ != nullptr; }
  /// The parameters have no values until the next gather().
  void release();
  /// The parameters are whole in their own type, in memory of their own, until let_go().
  void hold();
  void let_go();

 private:
  void point_at(const at::Tensor& memory);
  void make_views_of(const at::Tensor& buffer);
  bool is_slice_in(const at::Tensor& memory) const { return slice_.is_alias_of(memory); }

  Group& group_;
  bool stays_;
  Flat flat_;
  std::vector<at::Tensor> parameters_;  // members, in order of the buffer
  at::Tensor whole_;                    // over the storage whose memory is moved
  at::Tensor slice_;
  at::Tensor memory_;  // where the whole is
  at::Tensor held_;    // too, while it is held
  std::unique_ptr<Pending> pending_;
  bool there_ = false;
};

}  // namespace ddptrain
