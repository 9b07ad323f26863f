// What was built, from what.
#pragma once

#include <string>

namespace ddptrain {

std::string version();  // "0.1.0"
/// Of the LibTorch that the program was built with, "2.11.0"; empty where it was built without.
std::string torch_version();

}  // namespace ddptrain
