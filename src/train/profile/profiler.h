// `run --profile`: a Chrome trace of some steps, by LibTorch's Kineto.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>

#include "callbacks/callback.h"

namespace ddptrain {

struct ProfileOptions {
  std::int64_t steps = 10;
  c10::DeviceType device = c10::kCPU;
  std::string path;  // of the trace, a .json; its folder is there
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  bool reports = false;  // logs where the trace is, and which operators took the most time
};

/// An observer that records the phases, operators and collectives of this process for some steps,
/// once a few others have warmed up, and the kernels of its device. The trace appears whole, at the
/// latest when the run ends. A trace that cannot be written is a warning; the run continues.
/// Computes what a run without it computes.
std::unique_ptr<Callback> make_profiler(const ProfileOptions& options);

}  // namespace ddptrain
