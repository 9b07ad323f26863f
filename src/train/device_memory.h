// What a rank's devices have of memory, and what to say where it ends.
#pragma once

#include <exception>
#include <vector>

#include "accelerator/accelerator.h"

namespace ddptrain {

struct Placement;

/// Numbers of the devices that a rank computes on: one for each replica; none on the CPU.
std::vector<int> own_devices(const Placement& placement, int local_rank);

/// Of the fullest of them; nothing counted on the CPU.
DeviceMemory fullest_device(const Placement& placement, int local_rank);

/// Throws an exception again. Where it means that a device's memory ended, as an Error
/// (Exit::memory) about the option that decides how much is needed: what was asked for, what the
/// device has, and what would do. On the CPU as an Error that says kOutOfMachineMemory.
[[noreturn]] void explain_memory(const Placement& placement, int local_rank,
                                 std::exception_ptr error);

/// What the memory of a machine without GPUs ended with, and what would do.
inline constexpr const char* kOutOfMachineMemory =
    "out of memory; a smaller model, batch.micro or eval.batch needs less";

}  // namespace ddptrain
