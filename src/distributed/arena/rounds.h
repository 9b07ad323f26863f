// Collectives as rounds in shared memory (launch/arena/rank_arena.h): in a round each member writes
// a block and reads those of the others. Tensors are contiguous, [elements], on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "distributed/group.h"

namespace ddptrain {

/// A collective as one member sees it.
class CollectiveRounds {
 public:
  explicit CollectiveRounds(const char* operation) : operation_(operation) {}
  virtual ~CollectiveRounds() = default;
  const char* operation() const { return operation_; }
  virtual std::int64_t count() const = 0;
  /// In round `i`, counted from 0, this member's block.
  virtual void write(std::int64_t i, std::byte* block) = 0;
  /// Those of all members, in their order.
  virtual void read(std::int64_t i, const std::vector<std::byte*>& blocks) = 0;
  /// Whether what comes next may be written only after it.
  virtual bool reads_first() const { return false; }

 private:
  const char* operation_;
};

using Collective = std::shared_ptr<CollectiveRounds>;

/// Where the parts of a buffer begin that every member can read and write, in their order.
using MemberParts = std::vector<std::byte*>;

std::byte* bytes_of(const at::Tensor& flat);

Collective barrier_rounds();

/// In place, the sum over members, which each adds up.
Collective sum_by_each(at::Tensor flat);

/// In place, the sum over members of this member's slice.
Collective sum_of_slice(const char* operation, at::Tensor flat, Cuts cuts, int member);

/// The same in a buffer, of which `flat` is this member's part; with `everywhere`, each puts the
/// sums of its slice into all parts.
struct BufferSum {
  MemberParts parts;
  Cuts cuts;
  int member;
  bool everywhere;
};
Collective sum_in_place(const char* operation, at::Tensor flat, BufferSum sum);

/// All-to-all (Group::exchange_async).
Collective exchange_rounds(at::Tensor flat, Cuts cuts, int member, at::Tensor parts);

/// Slices of their owners, in place, to all.
Collective gather_rounds(const char* operation, at::Tensor flat, Cuts cuts, int member);
Collective broadcast_rounds(at::Tensor flat, int root, int member);

}  // namespace ddptrain
