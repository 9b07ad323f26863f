// The groups of ranks that share memory.
#pragma once

#include "distributed/world.h"

namespace ddptrain {

/// Whether they exchange through it: all ranks are on this machine, and compute on the CPU.
bool has_arena(const Topology& topology, const JoinOptions& options);

/// Meets the other ranks there; as join().
World connect_in_arena(const Topology& topology, const JoinOptions& options);

}  // namespace ddptrain
