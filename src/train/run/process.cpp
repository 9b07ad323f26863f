#include "train/run/process.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "accelerator/accelerator.h"
#include "accelerator/devices.h"
#include "base/output/log.h"
#include "base/text.h"
#include "launch/affinity.h"
#include "launch/signals.h"

namespace ddptrain {
namespace {

std::chrono::milliseconds milliseconds(const Duration& duration) {
  return std::chrono::milliseconds(std::llround(duration.count * 1000));
}

void log_groups(const ShardSpec& shard, const World& world) {
  if (!shard.by_node() || world.rank != 0) return;
  const int size = world.sharing().size();
  log::info("parallel.shard.group node: {}", size < world.size
                                                 ? "groups of " + plural(size, "rank")
                                                 : "all ranks, which are on one node");
}

}  // namespace

void bind_rank(const Topology& topology, const Placement& placement) {
  const auto usable = usable_cores();
  std::vector<Nearness> near;
  for (int r = 0; !placement.on_cpu() && r < topology.local_world; ++r)
    near.push_back(near_device(bus_address(placement.device, placement.id(r)), usable));
  auto cores = near.empty() ? std::vector<int>() : share_of_near(near, topology.local_rank);
  if (cores.empty()) cores = share_of_cores(usable, topology.local_rank, topology.local_world);
  if (usable.size() > 1 && !near.empty()) {
    const auto node = near[static_cast<std::size_t>(topology.local_rank)].node;
    if (node && !prefer_memory_of(*node))
      log::debug("the system does not let this process prefer the memory of a NUMA node");
  }
  log::debug("rank {} runs on cores {}", topology.rank, to_text(cores));
  bind_to(cores);
}

void prepare_process(const Recipe& recipe, const Placement& placement) {
  if (placement.replicas > 1) keep_segment_sizes();
  const auto& device = accelerator(placement.device);  // before LibTorch looks for kernels
  at::set_num_threads(placement.threads);
  auto& context = at::globalContext();
  if (recipe.train.deterministic) {
    device.be_deterministic();
    context.setDeterministicAlgorithms(true, false);
    context.setDeterministicCuDNN(true);
  }
  context.setBenchmarkCuDNN(!recipe.train.deterministic);
  const bool tf32 = recipe.train.precision.value == Precision::tf32;
  if (tf32) context.setFloat32MatmulPrecision("high");
  context.setAllowTF32CuDNN(tf32);  // LibTorch's convolutions use it unless it is disabled
}

World join_world(const Recipe& recipe, const Placement& placement, const Topology& topology) {
  JoinOptions options;
  if (!placement.on_cpu()) {
    options.accelerator = &accelerator(placement.device);
    options.device = static_cast<int>(placement.id(topology.local_rank));
    options.accelerator->select(options.device);  // else libraries use the first one too
  }
  options.statistics = recipe.parallel.sync_bn.value.value_or(false);
  options.ordered_sums = recipe.parallel.sums == Sums::ordered;
  options.shard_group = static_cast<int>(recipe.parallel.shard.ranks(0, kRanksOfNode));
  options.start = milliseconds(recipe.parallel.timeout.start);
  options.step = milliseconds(recipe.parallel.timeout.step);
  options.supervised = topology.address.empty() && !topology.store.empty();
  std::optional<EndsAtOnce> waiting;  // a launcher ends its own ranks, a rank alone waits for none
  if (topology.world > 1 && !options.supervised) waiting.emplace();
  auto world = join(topology, options);
  log_groups(recipe.parallel.shard, world);
  return world;
}

}  // namespace ddptrain
