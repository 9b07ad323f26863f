#include "accelerator/plugin.h"

namespace ddptrain {

std::string version_conflict(const std::string& library, int built_with, int found) {
  if (built_with == found) return {};
  return library + " here has version " + std::to_string(found) +
         ", and this ddptrain was built for " + std::to_string(built_with) +
         "; install the version that torch names, or build here";
}

}  // namespace ddptrain
