#include "train/device_memory.h"

#include <string>

#include "base/text.h"
#include "launch/failure.h"
#include "train/placement.h"

namespace ddptrain {
namespace {

double share(const DeviceMemory& memory) {
  return memory.total > 0
             ? static_cast<double>(memory.peak_reserved) / static_cast<double>(memory.total)
             : 0;
}

/// "; the device has 79.1 GiB, and at most 78.0 GiB were reserved".
std::string sizes(const DeviceMemory& memory) {
  if (memory.total == 0) return {};
  return "; the device has " + format_bytes(memory.total) + ", and at most " +
         format_bytes(memory.peak_reserved) + " were reserved";
}

std::string training_advice(const Placement& placement) {
  return (placement.find_micro ? "; a smaller one with more batch.accumulate gives the same result"
                               : "; 'batch.micro=auto batch.accumulate=auto' finds what fits with "
                                 "the same result") +
         std::string(", and 'train.precision=bf16' needs less");
}

Error explained(const OutOfMemory& error, const DeviceMemory& memory, const Placement& placement) {
  const auto what = error.what() + sizes(memory);
  if (error.phase() == "evaluation")
    return {Exit::memory, Option{"eval.batch"}, what + "; a smaller one needs less"};
  return {Exit::memory, Option{"batch.micro"}, what + training_advice(placement)};
}

/// What says nothing of a part of the work, such as building a model.
OutOfMemory without_a_phase(const std::exception_ptr& error) {
  try {
    rethrow_from("what was done", error);
  } catch (const OutOfMemory& known) {
    return known;
  }
}

}  // namespace

std::vector<int> own_devices(const Placement& placement, int local_rank) {
  if (placement.on_cpu()) return {};
  if (placement.replicas > 1) return {placement.ids.begin(), placement.ids.end()};
  return {static_cast<int>(placement.id(local_rank))};
}

DeviceMemory fullest_device(const Placement& placement, int local_rank) {
  DeviceMemory fullest;
  for (const int id : own_devices(placement, local_rank)) {
    const auto memory = accelerator(placement.device).memory(id);
    if (fullest.total == 0 || share(memory) > share(fullest)) fullest = memory;
  }
  return fullest;
}

void explain_memory(const Placement& placement, int local_rank, std::exception_ptr error) {
  const auto failure = failure_of(error, 0);
  if (failure.code != Exit::memory || failure.secondary) std::rethrow_exception(error);
  try {
    std::rethrow_exception(error);
  } catch (const OutOfMemory& known) {
    if (placement.on_cpu()) throw Error(Exit::memory, kOutOfMachineMemory);
    throw explained(known, fullest_device(placement, local_rank), placement);
  } catch (const Error&) {
    throw;
  } catch (...) {
    if (placement.on_cpu()) throw Error(Exit::memory, kOutOfMachineMemory);
    throw explained(without_a_phase(error), fullest_device(placement, local_rank), placement);
  }
}

}  // namespace ddptrain
