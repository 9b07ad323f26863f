// How the program gets an accelerator out of a shared library, which brings the device's kernels.
#pragma once

#include <functional>
#include <string>

#include "accelerator/accelerator.h"

namespace ddptrain {

inline constexpr const char* cuda_plugin = "libddptrain_cuda.so";

/// What a plug-in takes from the program, whose functions it does not see.
struct PluginHost {
  /// cached_code() of accelerator/code_cache.h.
  std::string (*cached_code)(const std::string& description,
                             const std::function<std::string()>& compile);
};

struct AcceleratorPlugin {
  static constexpr int current = 7;
  static constexpr const char* symbol = "ddptrain_accelerator";

  int version;        // `current` of the header that it was compiled with
  const char* torch;  // TORCH_VERSION of its build: with another one the types below differ
  /// Throws an Error where the libraries that it finds are not those that it was built for.
  const Accelerator& (*open)(const PluginHost& host);
};

using AcceleratorEntry = const AcceleratorPlugin*();

/// Libraries have numbers like 22809 or 13000, in which the headers carry their version. Empty
/// where both are the same, else what to say.
std::string version_conflict(const std::string& library, int built_with, int found);

/// A sentence about a library that the plug-in of CUDA lacks, and what brings it. `loader`: the
/// loader's message; `torch`: the version of LibTorch to install; `is_ours`: it came with ddptrain.
std::string missing_library(const std::string& loader, const std::string& torch, bool is_ours);

}  // namespace ddptrain
