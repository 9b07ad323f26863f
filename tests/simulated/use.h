// Opens the simulated device in a test program.
#pragma once

#include <c10/core/Device.h>

#include <cstdlib>

#include "accelerator/accelerator.h"
#include "recipe/recipe.h"
#include "simulated/simulated.h"
#include "support/where.h"

namespace ddptrain::test {

/// For this process and those that it starts; nothing is opened yet.
inline void allow_the_simulated_device() {
  const auto library = build_folder() + "/libddptrain_simulated.so";
  ::setenv(kSimulatedDevice, library.c_str(), 1);
}

/// From now on LibTorch has a thread for each device, and this process cannot fork and train.
inline const Accelerator& simulated_accelerator() {
  allow_the_simulated_device();
  return accelerator(DeviceKind::simulated);
}

inline c10::Device simulated_device(int number = 0) {
  return {simulated_accelerator().type(), static_cast<c10::DeviceIndex>(number)};
}

}  // namespace ddptrain::test
