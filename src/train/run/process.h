// The process of a rank: what holds before its first tensor, and the ranks that it joins.
#pragma once

#include "distributed/world.h"
#include "launch/failure.h"
#include "train/device_memory.h"
#include "train/placement.h"
#include "train/run/torch_warnings.h"

namespace ddptrain {

/// To cores near its device, where the system knows which those are.
void bind_rank(const Topology& topology, const Placement& placement);

/// Prepares this process for torch work: the accelerator, threads, determinism, tf32. Before the
/// first tensor.
void prepare_process(const Recipe& recipe, const Placement& placement);

/// Meets the other ranks of a topology with the recipe's time-outs.
World join_world(const Recipe& recipe, const Placement& placement, const Topology& topology);

/// Runs `body`; where a device's memory ends, the error says what would do.
template <class Body>
auto explained(const Placement& placement, World& world, Body body) {
  try {
    return body(world);
  } catch (...) {
    explain_memory(placement, world.local_rank, std::current_exception());
  }
}

/// Runs `body` in a world that ends after what it throws was recorded. A rank that only lost
/// another throws that one's cause, where it can be known (distributed/control/failure_board.h).
template <class Body>
auto in_world(const Recipe& recipe, const Placement& placement, const Topology& topology,
              Body body) {
  const TorchWarnings warnings;
  auto world = join_world(recipe, placement, topology);
  if (world.board) explain_what_no_one_catches(world.board->explanation());
  return recorded(topology, [&] {
    try {
      return explained(placement, world, body);
    } catch (...) {
      if (!world.board) throw;
      claim_last_words();  // a thread of NCCL's that loses the same peer leaves them to this one
      rethrow_cause(world, std::current_exception());
    }
  });
}

}  // namespace ddptrain
