// What was built, from what.
#pragma once

#include <string>

namespace ddptrain {

std::string version();  // "0.1.0"
/// Of the LibTorch that the program was built with, "2.11.0"; empty where it was built without.
std::string torch_version();
/// What a plug-in must have been built for: "ddptrain 0.1.0, LibTorch 2.11.0".
std::string plugin_versions();

}  // namespace ddptrain
