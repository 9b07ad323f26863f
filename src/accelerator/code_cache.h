// What was compiled for devices, on disk: a machine compiles each kernel once.
#pragma once

#include <functional>
#include <string>

namespace ddptrain {

/// What `compile` makes, kept in the folder kernels of cache_folder() under a digest of
/// `description`, which holds all that the code depends on. What was damaged there is compiled
/// again; a folder that cannot be written is done without.
std::string cached_code(const std::string& description,
                        const std::function<std::string()>& compile);

}  // namespace ddptrain
