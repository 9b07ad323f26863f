#include "base/files/free_space.h"

#include <filesystem>

namespace ddptrain {

namespace fs = std::filesystem;

std::string existing_folder(const std::string& folder) {
  std::error_code code;
  auto there = fs::absolute(folder, code);
  while (!fs::exists(there, code) && there.has_relative_path()) there = there.parent_path();
  return there.string();
}

FreeSpace free_space(const std::string& folder) {
  FreeSpace found{existing_folder(folder), 0, ""};
  std::error_code code;
  const auto space = fs::space(found.folder, code);
  if (code)
    found.unknown = code.message();
  else
    found.bytes = static_cast<std::int64_t>(space.available);
  return found;
}

}  // namespace ddptrain
