// Unpacking of archives that nobody has to trust. Torch-free.
#pragma once

#include <string>

namespace ddptrain {

/// Unpacks a tar (plain, gz, bz2, xz, zstd) or zip archive into an existing folder. Throws an Error
/// (Exit::data) on an entry that would land outside of the folder: an absolute path, `..`, a link
/// that leaves it or a path through a link; and on devices and the like.
void unpack(const std::string& archive, const std::string& folder);

}  // namespace ddptrain
