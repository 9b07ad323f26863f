#pragma once

#include <string>

namespace ddptrain {

/// What this user's runs share and may delete: ddptrain in $XDG_CACHE_HOME, in ~/.cache, or in the
/// folder for temporary files. It need not exist.
std::string cache_folder();

}  // namespace ddptrain
