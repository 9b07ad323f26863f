// What a machine can do at most, by two small kernels.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace ddptrain {

struct MachineLimits {
  double flops = 0;  // operations a second of a matrix product
  double bytes = 0;  // a second, read and written by a triad, a = b + 2 c, of arrays beyond caches
};

/// The best of a few repetitions on a device, with the compute threads that this thread has. Takes
/// about a second.
MachineLimits measure_limits(c10::Device device, c10::ScalarType type);

}  // namespace ddptrain
