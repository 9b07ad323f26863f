#include "accelerator/plugin.h"

#include <fmt/format.h>

namespace ddptrain {

std::string version_conflict(const std::string& library, int built_with, int found) {
  if (built_with == found) return {};
  return fmt::format(
      "{} here has version {}, and this ddptrain was built for {}; install the version that torch "
      "names, or build here",
      library, found, built_with);
}

std::string missing_library(const std::string& loader, const std::string& torch, bool is_ours) {
  if (is_ours)
    return fmt::format(
        "LibTorch came without CUDA's libraries ({}); 'ddptrain setup cuda' fetches them (2.7 GB)",
        loader);
  const bool is_for_cpus = loader.find("libtorch_cuda") != std::string::npos ||
                           loader.find("libc10_cuda") != std::string::npos;
  if (is_for_cpus)
    return fmt::format(
        "LibTorch here is a build for CPUs ({}); 'pip install --force-reinstall torch=={}' from "
        "PyPI has CUDA, and so has 'make setup-cuda TORCH={}'",
        loader, torch, torch);
  return fmt::format(
      "{} (the nvidia packages that torch names belong next to LibTorch: 'pip install "
      "--force-reinstall torch=={}', or 'make setup-cuda TORCH={}')",
      loader, torch, torch);
}

}  // namespace ddptrain
