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

}  // namespace ddptrain
