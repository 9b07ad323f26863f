#include "support/where.h"

namespace ddptrain::test {

std::string in_source(const std::string& path) { return DDPTRAIN_SOURCE "/" + path; }
std::string program() { return build_folder() + "/ddptrain"; }
std::string build_folder() { return DDPTRAIN_BUILD; }

}  // namespace ddptrain::test
