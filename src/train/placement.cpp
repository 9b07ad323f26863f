#include "train/placement.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "base/error.h"
#include "models/model.h"

namespace ddptrain {
namespace {

// CUDA_VISIBLE_DEVICES hides devices by listing the others; an empty list hides all.
int listed_devices(const std::string& list) {
  if (list.empty() || list == "-1") return 0;
  return 1 + static_cast<int>(std::count(list.begin(), list.end(), ','));
}

// NVML counts without creating a context; a machine without a driver has no such library.
int nvml_devices() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!library) return 0;
  const auto start = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  const auto count = reinterpret_cast<int (*)(unsigned*)>(dlsym(library, "nvmlDeviceGetCount_v2"));
  const auto stop = reinterpret_cast<int (*)()>(dlsym(library, "nvmlShutdown"));
  unsigned devices = 0;
  if (start && count && stop && start() == 0) {
    if (count(&devices) != 0) devices = 0;
    stop();
  }
  dlclose(library);
  return static_cast<int>(devices);
}

bool wants_cuda(const ParallelSpec& parallel, int gpus) {
  if (parallel.device == DeviceKind::cpu) return false;
  if (parallel.device == DeviceKind::cuda && gpus == 0)
    throw Error(Exit::device, Option{"parallel.device"},
                "'cuda' was asked for, and this machine shows no GPU; write "
                "'parallel.device: cpu' or 'auto'");
  return gpus > 0;
}

std::int64_t count_devices(const ParallelSpec& parallel, bool cuda, int gpus) {
  const auto& devices = parallel.devices;
  if (!devices.ids.empty()) return static_cast<std::int64_t>(devices.ids.size());
  if (devices.count.value) return *devices.count.value;
  return cuda && has_devices(parallel.mode) ? gpus : 1;
}

std::vector<std::int64_t> choose_gpus(const ParallelSpec& parallel, std::int64_t wanted, int gpus) {
  auto ids = parallel.devices.ids;
  for (std::int64_t i = 0; parallel.devices.ids.empty() && i < wanted; ++i) ids.push_back(i);
  for (const auto id : ids)
    if (id < 0 || id >= gpus)
      throw Error(
          Exit::device, Option{"parallel.devices"},
          "there is no GPU " + std::to_string(id) + "; this machine shows " + std::to_string(gpus));
  return ids;
}

void check_mode(Mode mode, std::int64_t devices, const Topology& outer) {
  if (has_replicas(mode) && outer.world > 1)
    throw Error(Exit::recipe, Option{"parallel.mode"},
                "'dp' is one process, and this one was started as one of " +
                    std::to_string(outer.world) + " ranks; write 'ddp'");
  if (!has_devices(mode) && devices > 1)
    throw Error(Exit::recipe, Option{"parallel.mode"},
                "'none' uses one device, and " + std::to_string(devices) +
                    " were asked for; write 'ddp' or 'dp'");
}

int threads_per_rank(const Recipe& recipe, int cores, int local_ranks) {
  if (recipe.train.threads.value) return static_cast<int>(*recipe.train.threads.value);
  return std::max(1, cores / local_ranks);
}

/// What sync_bn auto comes to: other models have nothing to synchronise, one device nobody to do it
/// with.
bool shares_statistics(const Recipe& recipe, const Placement& placement) {
  const auto* model = catalog<Model>().find(recipe.model.type());
  return placement.devices() > 1 && model && model->has("batch_norm");
}

}  // namespace

int visible_gpus() {
  const int present = nvml_devices();
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  return list ? std::min(present, listed_devices(list)) : present;
}

Placement place(const Recipe& recipe, const Topology& outer) {
  Machine machine;
  if (recipe.parallel.device != DeviceKind::cpu) machine.gpus = visible_gpus();
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  return place(recipe, outer, machine);
}

Placement place(const Recipe& recipe, const Topology& outer, const Machine& machine) {
  const auto& parallel = recipe.parallel;
  const int gpus = machine.gpus;
  Placement placement;
  placement.cuda = wants_cuda(parallel, gpus);
  const auto devices = outer.joined() ? outer.world : count_devices(parallel, placement.cuda, gpus);
  check_mode(parallel.mode, devices, outer);
  const bool dp = has_replicas(parallel.mode);
  placement.ranks = dp ? 1 : static_cast<int>(devices);
  placement.replicas = dp ? static_cast<int>(devices) : 1;
  const int local_ranks = outer.joined() ? outer.local_world : placement.ranks;
  if (placement.cuda) placement.ids = choose_gpus(parallel, dp ? devices : local_ranks, gpus);
  placement.threads = threads_per_rank(recipe, machine.cores, std::max(1, local_ranks));
  placement.find_threads = recipe.train.threads.automatic() && !placement.cuda && !dp;
  placement.batch = plan_batch(recipe.batch, devices);
  placement.find_micro =
      placement.cuda && recipe.batch.micro.automatic() && recipe.batch.accumulate.automatic();
  return placement;
}

Recipe resolved(Recipe recipe, const Placement& placement) {
  if (recipe.parallel.sync_bn.automatic())
    recipe.parallel.sync_bn = shares_statistics(recipe, placement);
  recipe.batch.global = placement.batch.global;
  recipe.batch.per_device.reset();
  recipe.batch.micro = Auto<std::int64_t>(placement.batch.micro);
  recipe.batch.accumulate = Auto<std::int64_t>(placement.batch.accumulate);
  recipe.parallel.device = placement.cuda ? DeviceKind::cuda : DeviceKind::cpu;
  recipe.parallel.devices.count = Auto<std::int64_t>(placement.devices());
  recipe.train.threads = Auto<std::int64_t>(placement.threads);
  if (recipe.eval.batch.automatic())
    recipe.eval.batch =
        Auto<std::int64_t>(std::clamp<std::int64_t>(placement.batch.global, 64, 256));
  recipe.output.dir = std::filesystem::absolute(recipe.output.dir).lexically_normal().string();
  return recipe;
}

}  // namespace ddptrain
