// Where a run happens, resolved before any rank starts: `auto` becomes numbers here and nowhere
// else.
#pragma once

#include <string>
#include <vector>

#include "accelerator/accelerator.h"
#include "accelerator/devices.h"
#include "launch/topology.h"
#include "recipe/batch_plan.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// ranks x replicas = devices: ddp has one replica per rank, dp several in one rank.
struct Placement {
  DeviceKind device = DeviceKind::cpu;  // not `automatic`
  int ranks = 1;
  int replicas = 1;
  std::vector<std::int64_t> ids;  // of the devices, by local rank or replica; none on the CPU
  DeviceTraits traits;            // of those devices; none on the CPU
  int threads = 1;                // compute threads of each rank
  BatchPlan batch;
  bool find_micro =
      false;  // batch.micro is left to the devices' memory (train/build/micro_batch.h)
  bool find_threads =
      false;  // train.threads is left to the size of the work (train/build/build.cpp)
  int devices() const { return ranks * replicas; }
  bool on_cpu() const { return device == DeviceKind::cpu; }
  /// Of a local rank's device.
  std::int64_t id(int local_rank) const { return ids.at(static_cast<std::size_t>(local_rank)); }
};

/// What a machine has.
struct Machine {
  int gpus = 0;                        // devices other than the CPU that this process may use
  DeviceKind kind = automatic_kind();  // theirs
  DeviceTraits traits = {};            // that all of them have
  int cores = 1;                       // hardware threads
  std::string why_none = {};           // why it may use none, although there are some
};

/// One of `of` equal parts of a machine, for runs next to each other.
struct MachinePart {
  int index = 0;
  int of = 1;
};

/// The recipe with the GPUs of a part as its own, and what the part has. An Error (Exit::device)
/// where there are not enough GPUs for all parts.
Machine divide(Machine machine, const MachinePart& part, Recipe& recipe);

/// Where a run happens on a machine. Under another launcher, `outer` says how many
/// ranks there are. Throws an Error: Exit::device for a device that is not there, Exit::recipe for
/// a batch that cannot be cut or a mode that does not go with the devices.
Placement place(const Recipe& recipe, const Topology& outer, const Machine& machine);

/// The same on this machine, at whose GPUs it looks as far as the recipe asks, in a child process.
/// Where the recipe leaves the device open and GPUs cannot be used, rank 0 logs a warning.
Placement place(const Recipe& recipe, const Topology& outer);

/// The same on a part of this machine.
Placement place_on(const MachinePart& part, Recipe& recipe);

/// "cpu", "cuda".
std::string device_name(const Placement& placement);

/// Writes what was resolved into the recipe, so that running it again repeats the run.
Recipe resolved(Recipe recipe, const Placement& placement);

}  // namespace ddptrain
