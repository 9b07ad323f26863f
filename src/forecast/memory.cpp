#include "forecast/memory.h"

#include <algorithm>

namespace ddptrain {

namespace {

/// Those that share a model.
double sharing_devices(const MemoryParts& parts, Sharding sharding, std::int64_t devices) {
  const bool grouped = sharding >= Sharding::gradients && parts.group > 0;
  return static_cast<double>(
      std::max<std::int64_t>(grouped ? std::min(parts.group, devices) : devices, 1));
}

}  // namespace

double device_bytes(const MemoryParts& parts, Sharding sharding, std::int64_t devices) {
  const auto n = sharing_devices(parts, sharding, devices);
  const auto cut = [&](double bytes) { return sharding == Sharding::none ? bytes : bytes / n; };
  const double slots = 2 * parts.block;
  const double in_blocks = 1 - parts.root;
  const double cast = in_blocks > 0 ? parts.cast / in_blocks : 0;
  const double travels = 1 - cast / 2;  // bytes of a block on its way, of its own
  auto weights = parts.weights, gradients = parts.gradients;
  if (sharding >= Sharding::gradients)
    gradients *= 1 / n + (parts.whole_gradients ? 1 : parts.root + slots);
  if (sharding == Sharding::gradients) weights *= parts.root + in_blocks * (travels + cast / n);
  if (sharding == Sharding::weights) weights *= parts.root + in_blocks / n + slots * travels;
  auto state = cut(parts.optimizer);
  if (host_bytes(parts, sharding, devices) > 0)
    state = 2 * std::max(parts.whole_state, std::min(state / 2, parts.buffer));
  return weights + gradients + state + cut(parts.average) + parts.activations + parts.rest;
}

double host_bytes(const MemoryParts& parts, Sharding sharding, std::int64_t devices) {
  if (parts.buffer == 0 || sharding == Sharding::none) return 0;
  return parts.optimizer / sharing_devices(parts, sharding, devices);
}

bool leaves_room(double bytes, double all) { return bytes <= 0.9 * all; }

double checkpoint_seconds(const MemoryParts& parts) {
  return (parts.weights + parts.optimizer + parts.average) / common_constants().digest.value;
}

}  // namespace ddptrain
