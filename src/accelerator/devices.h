// Which devices a machine has, without touching them in this process: it may fork ranks afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accelerator/accelerator.h"

namespace ddptrain {

/// GPUs that NVIDIA's driver shows and CUDA_VISIBLE_DEVICES leaves: asks NVML, else libcuda in a
/// child process; 0 where there is neither.
int visible_gpus();

/// The version of NVIDIA's driver as NVML says it ("580.65.06"); empty where it does not.
std::string driver_version();

/// Where a device is on the PCI bus, as Linux names it ("0000:3b:00.0"), by its number among the
/// visible ones in the driver's order; empty where it is unknown. Creates no context.
std::string bus_address(DeviceKind kind, std::int64_t id);

/// The kind that `auto` takes where a machine has such devices.
DeviceKind automatic_kind();

/// The kind that a machine is examined for: automatic_kind(), or the simulated one where
/// DDPTRAIN_SIMULATED_DEVICE names its plug-in.
DeviceKind examined_kind();

struct FoundDevices {
  std::vector<std::string> names;
  DeviceTraits traits;   // that all of them have
  std::string why_none;  // why none can be used although some are there or were asked for by name
};

/// The devices of a kind, or of automatic_kind() where it is `automatic`, counted by their
/// accelerator in a child process. Never throws for devices that cannot be used.
FoundDevices find_devices(DeviceKind kind);

}  // namespace ddptrain
