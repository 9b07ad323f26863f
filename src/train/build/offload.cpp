#include "train/build/offload.h"

#include "accelerator/accelerator.h"
#include "base/error.h"
#include "config/catalog.h"
#include "distributed/engine.h"
#include "optim/optimizer.h"
#include "optim/state_stream.h"
#include "train/placement.h"

namespace ddptrain {

bool looks_at_whole_parameters(const Choice<Optimizer>& optimizer) {
  const auto* entry = catalog<Optimizer>().find(optimizer.type());
  if (entry != nullptr && entry->has("whole_parameters")) return true;
  const auto* node = optimizer.node().find("inner");
  if (node == nullptr) return false;
  Choice<Optimizer> inner;
  inner.choose(*node);
  return looks_at_whole_parameters(inner);
}

std::unique_ptr<StateStream> offload(const Recipe& recipe, const Placement& placement,
                                     Engine& engine, Optimizer& optimizer) {
  const auto device = engine.masters().front().tensor.device();
  if (recipe.parallel.shard.offload == Offload::none || device.is_cpu()) return nullptr;
  const StreamOptions options{.divides_parameters = !looks_at_whole_parameters(recipe.optimizer)};
  auto stream = std::make_unique<StateStream>(
      device,
      [&from = accelerator(placement.device)](std::int64_t bytes) {
        return from.host_memory(bytes);
      },
      options);
  DDP_CHECK(optimizer.offload(*stream), "rules refuse optimizers whose state stays on the device");
  return stream;
}

}  // namespace ddptrain
