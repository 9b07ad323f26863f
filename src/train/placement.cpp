#include "train/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "models/model.h"

namespace ddptrain {
namespace {

/// The overrides with which a recipe that names devices runs on the CPU, its batch cut as before.
std::string overrides_for_cpu(const ParallelSpec& parallel) {
  const auto devices = written_devices(parallel).value_or(1);
  std::string words = "parallel.device=cpu";
  if (devices > 1 || !parallel.devices.ids.empty())
    words += fmt::format(" parallel.devices={}", devices);
  return words;
}

/// What `device` comes to.
DeviceKind choose_kind(const ParallelSpec& parallel, const Machine& machine) {
  const auto wanted = parallel.device;
  if (wanted == DeviceKind::automatic) return machine.gpus > 0 ? machine.kind : DeviceKind::cpu;
  if (wanted == DeviceKind::cpu || machine.gpus > 0) return wanted;
  const std::string name(names(wanted)[static_cast<std::size_t>(wanted)]);
  throw Error(Exit::device, Option{"parallel.device"},
              "'{}' was asked for, and {}; '{}' runs without one", name,
              machine.why_none.empty() ? "this machine shows no GPU" : machine.why_none,
              overrides_for_cpu(parallel));
}

std::int64_t count_devices(const ParallelSpec& parallel, int gpus) {
  const auto& devices = parallel.devices;
  if (!devices.ids.empty()) return static_cast<std::int64_t>(devices.ids.size());
  if (devices.count.value) return *devices.count.value;
  return gpus > 0 && has_devices(parallel.mode) ? gpus : 1;
}

/// Ranks that each node starts, where a process per node was started: `parallel.devices` counts
/// those of all nodes.
std::int64_t count_on_node(const ParallelSpec& parallel, const Topology& node, int gpus) {
  if (node.local_world > 0) return node.local_world;
  const auto& written = parallel.devices.count.value;
  if (!written || !parallel.devices.ids.empty()) return count_devices(parallel, gpus);
  if (*written % node.world != 0)
    throw Error(Exit::recipe, Option{"parallel.devices"}, "{} cannot be shared evenly by {}",
                plural(*written, "device"), plural(node.world, "node"));
  return *written / node.world;
}

/// What of the batch must be left open for another number of devices: ready to follow an override
/// of theirs, and mostly empty. Nothing where the batch cannot be cut so.
std::optional<std::string> overrides_of_batch(BatchSpec batch, std::int64_t devices) {
  for (const std::string words :
       {"", " batch.accumulate=auto", " batch.micro=auto batch.accumulate=auto"}) {
    try {
      plan_batch(batch, devices);
      return words;
    } catch (const Error&) {
      (batch.accumulate.automatic() ? batch.micro : batch.accumulate) = {};
    }
  }
  return {};
}

/// "; 'parallel.devices=2' takes what is there": as many as can share the batch.
std::string way_out(const BatchSpec& batch, int gpus) {
  for (std::int64_t devices = gpus; devices > 0; --devices)
    if (const auto words = overrides_of_batch(batch, devices))
      return fmt::format("; 'parallel.devices={}{}' takes {}", devices, *words,
                         devices == gpus ? "what is there" : fmt::format("{} of them", devices));
  return {};
}

void require_gpu(std::int64_t id, int gpus, const Recipe& recipe, const Topology& outer) {
  if (id >= 0 && id < gpus) return;
  throw Error(Exit::device, Option{"parallel.devices"},
              "there is no GPU {}; this machine shows {}{}", id, gpus,
              outer.joined() ? "" : way_out(recipe.batch, gpus));
}

/// Ranks that another launcher started may each see their own GPUs alone, whose numbers begin at 0
/// for all of them (Slurm's --gpus-per-task).
bool sees_its_own(const Topology& outer, int gpus) {
  return outer.joined() && !outer.is_node && gpus > 0 && (gpus == 1 || gpus == outer.gpus_of_rank);
}

/// By local rank or replica.
std::vector<std::int64_t> choose_gpus(const Recipe& recipe, const Topology& outer,
                                      std::int64_t wanted, int gpus) {
  const auto& written = recipe.parallel.devices.ids;
  auto ids = written;
  const bool own = sees_its_own(outer, gpus);
  for (std::int64_t i = 0; written.empty() && i < wanted; ++i) ids.push_back(own ? 0 : i);
  if (std::ssize(ids) < wanted)
    throw Error(Exit::recipe, Option{"parallel.devices"}, "it names {}, and {} run on this machine",
                plural(std::ssize(ids), "GPU"), plural(wanted, "rank"));
  for (const auto id : ids) require_gpu(id, gpus, recipe, outer);
  return ids;
}

void check_mode(Mode mode, std::int64_t devices, const Topology& outer) {
  if (has_replicas(mode) && outer.world > 1)
    throw Error(Exit::recipe, Option{"parallel.mode"},
                "'dp' is one process, and this one was started as one of {}{}; write 'ddp'",
                outer.world, outer.is_node ? " nodes" : " ranks");
  if (!has_devices(mode) && devices > 1)
    throw Error(Exit::recipe, Option{"parallel.mode"},
                "'none' uses one device, and {} were asked for; write 'ddp' or 'dp'", devices);
}

int threads_per_rank(const Recipe& recipe, int cores, int local_ranks) {
  if (recipe.train.threads.value) return static_cast<int>(*recipe.train.threads.value);
  return std::max(1, cores / local_ranks);
}

/// What rules cannot know: the device that was chosen, and how the batch is cut.
void require_graphs(const Recipe& recipe, const Placement& placement) {
  if (!recipe.train.graph.value.value_or(false)) return;
  const auto refuse = [](const std::string& why) {
    throw Error(Exit::recipe, Option{"train.graph"},
                "steps cannot be captured into a graph: {}; 'train.graph: auto' trains without one",
                why);
  };
  if (placement.on_cpu()) refuse("this run is on the CPU, which has none");
  if (placement.batch.accumulate > 1)
    refuse(fmt::format("a step makes {} passes (batch.accumulate)", placement.batch.accumulate));
}

void require_a_device_to_offload(const Recipe& recipe, const Placement& placement) {
  if (recipe.parallel.shard.offload == Offload::none || !placement.on_cpu()) return;
  throw Error(Exit::recipe, Option{"parallel.shard.offload"}, kNothingToOffload);
}

/// What sync_bn auto comes to: other models have nothing to synchronize, one device has no peers to
/// synchronize with.
bool shares_statistics(const Recipe& recipe, const Placement& placement) {
  const auto* model = catalog<Model>().find(recipe.model.type());
  return placement.devices() > 1 && model && model->has("batch_norm");
}

bool convolves(const Recipe& recipe) {
  const auto* model = catalog<Model>().find(recipe.model.type());
  return model && model->has("convolves");
}

/// What `auto` comes to by what the devices are good at.
void settle_numerics(TrainSpec& train, const DeviceTraits& traits, bool model_convolves) {
  if (train.precision.automatic())
    train.precision = traits.has_bf16 ? Precision::bf16 : Precision::fp32;
  if (train.channels_last.automatic())
    train.channels_last = traits.gains_by_channels_last && model_convolves && !train.deterministic;
}

/// Its GPUs as far as the recipe asks for some.
Machine this_machine(DeviceKind wanted) {
  Machine machine;
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  auto found = find_devices(wanted);
  machine.gpus = static_cast<int>(found.names.size());
  machine.traits = found.traits;
  machine.why_none = std::move(found.why_none);
  return machine;
}

}  // namespace

std::string device_name(const Placement& placement) {
  return std::string(names(placement.device)[static_cast<std::size_t>(placement.device)]);
}

Placement place(const Recipe& recipe, const Topology& outer) {
  const auto wanted = recipe.parallel.device;
  const auto machine = this_machine(wanted);
  if (wanted == DeviceKind::automatic && !machine.why_none.empty() && outer.rank == 0)
    log::warning("parallel.device auto is the CPU here: the driver shows a GPU, but {}",
                 machine.why_none);
  if (outer.rank == 0 && machine.gpus > 1 && sees_its_own(outer, machine.gpus))
    log::warning("each rank was given {} and uses one; '--gpus-per-task=1' would do",
                 plural(machine.gpus, "GPU"));
  return place(recipe, outer, machine);
}

Machine divide(Machine machine, const MachinePart& part, Recipe& recipe) {
  auto& parallel = recipe.parallel;
  machine.cores = std::max(1, machine.cores / part.of);
  if (machine.gpus == 0 || parallel.device == DeviceKind::cpu) return machine;
  auto ids = parallel.devices.ids;
  for (std::int64_t id = 0; parallel.devices.ids.empty() && id < machine.gpus; ++id)
    ids.push_back(id);
  const auto share = std::ssize(ids) / part.of;
  const auto wanted = has_devices(parallel.mode) ? parallel.devices.count.value.value_or(share) : 1;
  if (share == 0 || wanted > share)
    throw Error(Exit::device, Option{"parallel.devices"},
                "{} runs at once on {} each need more than the {} there are", part.of,
                plural(std::max<std::int64_t>(wanted, 1), "GPU"), ids.size());
  const auto first = ids.begin() + part.index * share;
  parallel.devices.ids.assign(first, first + wanted);
  return machine;
}

Placement place_on(const MachinePart& part, Recipe& recipe) {
  if (part.of == 1) return place(recipe, {});
  const auto machine = divide(this_machine(recipe.parallel.device), part, recipe);
  return place(recipe, {}, machine);
}

Placement place(const Recipe& recipe, const Topology& outer, const Machine& machine) {
  const auto& parallel = recipe.parallel;
  Placement placement;
  placement.device = choose_kind(parallel, machine);
  const int gpus = placement.on_cpu() ? 0 : machine.gpus;
  if (gpus > 0) placement.traits = machine.traits;
  const auto on_node = outer.is_node ? count_on_node(parallel, outer, gpus) : 0;
  const auto devices = outer.is_node    ? outer.world * on_node
                       : outer.joined() ? outer.world
                                        : count_devices(parallel, gpus);
  check_mode(parallel.mode, devices, outer);
  const bool dp = has_replicas(parallel.mode);
  placement.ranks = dp ? 1 : static_cast<int>(devices);
  placement.replicas = dp ? static_cast<int>(devices) : 1;
  const int local_ranks = outer.is_node    ? static_cast<int>(dp ? 1 : on_node)
                          : outer.joined() ? outer.local_world
                                           : placement.ranks;
  if (gpus > 0) placement.ids = choose_gpus(recipe, outer, dp ? devices : local_ranks, gpus);
  placement.threads = threads_per_rank(recipe, machine.cores, std::max(1, local_ranks));
  placement.find_threads = recipe.train.threads.automatic() && placement.on_cpu() && !dp;
  placement.batch = plan_batch(recipe.batch, devices);
  placement.find_micro =
      !placement.on_cpu() && recipe.batch.micro.automatic() && recipe.batch.accumulate.automatic();
  require_graphs(recipe, placement);
  require_a_device_to_offload(recipe, placement);
  return placement;
}

Recipe resolved(Recipe recipe, const Placement& placement) {
  if (recipe.parallel.sync_bn.automatic())
    recipe.parallel.sync_bn = shares_statistics(recipe, placement);
  recipe.batch.global = placement.batch.global;
  recipe.batch.per_device.reset();
  recipe.batch.micro = Auto<std::int64_t>(placement.batch.micro);
  recipe.batch.accumulate = Auto<std::int64_t>(placement.batch.accumulate);
  recipe.parallel.device = placement.device;
  recipe.parallel.devices.count = Auto<std::int64_t>(placement.devices());
  recipe.train.threads = Auto<std::int64_t>(placement.threads);
  settle_numerics(recipe.train, placement.traits, convolves(recipe));
  if (recipe.eval.batch.automatic())
    recipe.eval.batch = Auto<std::int64_t>(usual_eval_batch(placement.batch.global));
  const auto absolute = [](const std::string& folder) {
    return std::filesystem::absolute(folder).lexically_normal().string();
  };
  recipe.output.dir = absolute(recipe.output.dir);
  if (recipe.checkpoint.local)
    recipe.checkpoint.local->dir = absolute(recipe.checkpoint.local->dir);
  return recipe;
}

}  // namespace ddptrain
