// The device that these tests compare with the CPU: DDPTRAIN_GPU_TEST_DEVICE names its kind.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "accelerator/accelerator.h"

namespace ddptrain::gpu {

/// Opened by main(), before LibTorch computes anything.
const Accelerator& tested();
c10::Device device();

/// Why the tests take the small networks alone: operators of the simulated device are copies, and
/// the large ones take minutes there. DDPTRAIN_LONG=1 runs all.
bool takes_large_networks();

/// How far a device's result may be from the CPU's, next to the size of the tensor (L2).
struct Tolerance {
  at::ScalarType type;
  double distance;
};

/// ||far - near|| / ||near||, both in double on the host. Of the difference, `rounding` is left
/// out.
double relative_distance(const at::Tensor& far, const at::Tensor& near, double rounding = 0);

}  // namespace ddptrain::gpu
