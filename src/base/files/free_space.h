// Room on a disk.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

/// The folder itself, or the nearest above it that is there.
std::string existing_folder(const std::string& folder);

struct FreeSpace {
  std::string folder;      // existing_folder of the one that was asked for
  std::int64_t bytes = 0;  // that we may write there
  std::string unknown;     // why nobody can say; empty: it is known
};
FreeSpace free_space(const std::string& folder);

}  // namespace ddptrain
