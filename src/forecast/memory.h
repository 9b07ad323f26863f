// Memory of a device, and time of a checkpoint.
#pragma once

#include <cstdint>

#include "forecast/step.h"

namespace ddptrain {

/// Bytes of a device that trains alone.
struct MemoryParts {
  double weights = 0, gradients = 0, optimizer = 0, average = 0;
  double activations = 0;  // of a micro-batch
  double rest = 0;         // what is there besides: buckets, logits, temporaries
  // Of weights and gradients: the share of parameters that are in no block, that of the largest
  // block, and that of those in blocks which travel in half as many bytes.
  double root = 1, block = 0, cast = 0;
  std::int64_t group = 0;        // devices among which gradients and weights are sharded; 0: all
  bool whole_gradients = false;  // of all blocks, where they are sharded: summed over ranks last
  // Where the optimizer's state is offloaded: bytes at most of each of two buffers, and what must
  // be in one at once.
  double buffer = 0, whole_state = 0;
};

/// Bytes of each of `devices`: a part that is sharded is divided by them (Rajbhandari et al. 2020,
/// ZeRO, figure 1). Sharded weights are whole where they are in no block, gradients likewise in a
/// buffer, and two more buffers have room for the largest block (distributed/sharding/units.h).
/// Where only gradients are sharded, a device has a slice of its own of weights that travel in
/// another type. In modes that
/// shard gradients, those of a group share. Of state that is offloaded a device has two buffers
/// (optim/state_stream.h).
double device_bytes(const MemoryParts& parts, Sharding sharding, std::int64_t devices);

/// Whether a tenth of a device's memory of `all` bytes stays free, which is what nothing here
/// counts: libraries, what an allocator cannot give out.
bool leaves_room(double bytes, double all);

/// Of the host's memory for each of `devices`: what is offloaded of a part that is sharded.
double host_bytes(const MemoryParts& parts, Sharding sharding, std::int64_t devices);

/// Of one process that writes weights, the optimizer's state and averages, and digests them.
double checkpoint_seconds(const MemoryParts& parts);

}  // namespace ddptrain
