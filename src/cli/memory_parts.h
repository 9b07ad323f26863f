// Memory of a device by parts, and what each mode makes of them.
#pragma once

#include <cstdint>
#include <string>

#include "forecast/memory.h"
#include "recipe/model_facts.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// Of micro-batches of `micro` samples, where the facts are of `known`, on nodes of `node` devices
/// (0: all on one).
MemoryParts memory_parts(const ModelFacts& facts, const ShardSpec& shard, std::int64_t known,
                         std::int64_t micro, std::int64_t node);

/// What `parallel.mode: auto` comes to on `devices` that have so many bytes each: the first of the
/// modes of ranks in which a step leaves room there, else the one that needs least.
Mode mode_with_room(const MemoryParts& parts, std::int64_t devices, double bytes);

/// "ddp 1.2 GiB, zero1 800 MiB, zero2 ..., fsdp ...": the most on each of several devices.
std::string memory_of_modes(const MemoryParts& parts, std::int64_t devices);

}  // namespace ddptrain
