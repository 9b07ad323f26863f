// Names for what is written before it is whole.
#pragma once

#include <string>

namespace ddptrain {

/// The path and ".tmp" and 64 random bits: no name that somebody could have put a link at. Open it
/// with O_EXCL and O_NOFOLLOW.
std::string temporary_name(const std::string& path);

}  // namespace ddptrain
