#include "support/where.h"

namespace ddptrain::test {

std::string in_source(const std::string& path) { return DDPTRAIN_SOURCE "/" + path; }
std::string program() { return build_folder() + "/ddptrain"; }
std::string build_folder() { return DDPTRAIN_BUILD; }
std::string torch_version() { return DDPTRAIN_TORCH; }

}  // namespace ddptrain::test
