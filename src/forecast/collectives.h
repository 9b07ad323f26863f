// What collectives take on a machine.
#pragma once

#include <cstdint>

#include "forecast/machine.h"

namespace ddptrain {

/// Nodes that so many devices fill.
std::int64_t nodes_of(const KnownMachine& machine, std::int64_t devices);

/// Bytes a second at which each device sends in a ring over all of them: that of the link in a
/// node, across nodes what is reached of the network cards (nccl#1229), whichever is less.
double ring_rate(const KnownMachine& machine, std::int64_t devices);

/// Seconds until the smallest collective is done: of a node, and of each doubling of nodes there
/// and back.
double latency(const KnownMachine& machine, std::int64_t devices);

/// Seconds of an all-gather or a reduce-scatter of `bytes`, the whole of it: (n - 1) / n of them
/// are sent by each device. 0 on one device.
double gather_seconds(const KnownMachine& machine, std::int64_t devices, double bytes);
/// Of an all-reduce, which is one of each: 2 (n - 1) / n (Patarasuk and Yuan 2009).
double reduce_seconds(const KnownMachine& machine, std::int64_t devices, double bytes);

/// Of an all-reduce among the devices that have the same place in each group of `group` devices, of
/// `bytes` each, while those of the other places do the same. 0 with one group.
double replica_seconds(const KnownMachine& machine, std::int64_t devices, std::int64_t group,
                       double bytes);

}  // namespace ddptrain
