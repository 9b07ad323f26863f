// `parallel.mode: auto`: the first of ddp, zero1, zero2 and fsdp in which a training step fits into
// the memory of every rank. The earlier ones send less.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "distributed/engine.h"
#include "forecast/memory.h"

namespace ddptrain {

struct Recipe;
struct Training;

/// Bytes of weights, gradients, the optimizer's state and averages of the model that a recipe
/// trains. `factory` makes it; no weight is drawn.
MemoryParts state_parts(const Recipe& recipe, const ModelFactory& factory);

/// Which modes leave room in `bytes` on each of `sharing` ranks that have a model together, in the
/// order in which they are to be tried: each needs less than those before it, as fsdp does of a
/// model with blocks. The one that needs least, where none leaves room.
std::vector<Mode> modes_within(const MemoryParts& parts, std::int64_t sharing, double bytes);

/// Bytes that the rank with the least has to itself: its device's, or on the CPU its part of what
/// its machine has left. None where a rank does not know. All ranks call it together.
std::optional<std::int64_t> memory_of_ranks(const Training& training);

/// What makes the parts of a run that are measured here.
struct EngineMaker {
  ModelFactory model;
  std::function<std::unique_ptr<Engine>(const Recipe&)> engine;  // of the recipe's mode
};

/// The engine of a recipe's mode, which becomes t.engine. Where that is `auto`, the recipe learns
/// which: none for one rank; for several the first of modes_within() that can be built and, on an
/// accelerator, trains the planned micro-batch (fits_in_memory). The last one is not tried, nor is
/// any on the CPU. Rank 0 logs what was chosen and why. `alive` is called before every trial. All
/// ranks call it together, when data and loss are there.
void build_engine_that_fits(Training& t, Recipe& recipe, const EngineMaker& maker,
                            const std::function<void()>& alive);

}  // namespace ddptrain
