#include "base/files/cache_folder.h"

#include <cstdlib>
#include <filesystem>

namespace ddptrain {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string cache_folder() {
  auto base = variable("XDG_CACHE_HOME");
  if (base.empty() && !variable("HOME").empty()) base = variable("HOME") + "/.cache";
  if (base.empty()) base = std::filesystem::temp_directory_path().string();
  return base + "/ddptrain";
}

}  // namespace ddptrain
