// Symbolic links that are there at any time.
#pragma once

#include <string>
#include <system_error>

namespace ddptrain {

/// Makes `link` lead to `target`, whatever link it was: under a name that nobody can have put
/// something at, then renamed. Why not, where the file system or the folder does not take it.
std::error_code replace_link(const std::string& link, const std::string& target);

}  // namespace ddptrain
