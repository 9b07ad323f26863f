#include "base/version.h"

namespace ddptrain {

std::string version() { return DDPTRAIN_VERSION; }
std::string torch_version() { return DDPTRAIN_TORCH; }
std::string plugin_versions() { return "ddptrain " + version() + ", LibTorch " + torch_version(); }

}  // namespace ddptrain
