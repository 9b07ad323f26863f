// The file of a generated table.
#pragma once

#include <string>

namespace ddptrain {

/// Writes `name` in a folder, which is made where it is missing. False where the file is there
/// already; an Error (Exit::data) where it has other contents.
bool write_new(const std::string& folder, const std::string& name, const std::string& text);

}  // namespace ddptrain
