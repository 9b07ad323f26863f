// The shards that a recipe names: a folder, a file, or a pattern with braces.
#pragma once

#include <string>
#include <vector>

#include "sources/files/file_system.h"

namespace ddptrain {

/// Names of shards below `root`, in order: those of a folder by name (*.tar), those that match a
/// name with '*', or those that a pattern with braces names, each of which must be there. An Error
/// (Exit::data) names `option` ("data.train"), and the first shard that is missing.
std::vector<std::string> shard_names(const FileSystem& files, const std::string& root,
                                     const std::string& pattern, const std::string& option);

}  // namespace ddptrain
