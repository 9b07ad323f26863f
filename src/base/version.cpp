#include "base/version.h"

namespace ddptrain {

std::string version() { return DDPTRAIN_VERSION; }
std::string torch_version() { return DDPTRAIN_TORCH; }

}  // namespace ddptrain
