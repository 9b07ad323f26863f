#include "sources/synthetic/new_file.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {

bool write_new(const std::string& folder, const std::string& name, const std::string& text) {
  const auto path = (std::filesystem::path(folder) / name).string();
  if (!std::filesystem::exists(path)) {
    make_folders(folder);
    write_atomically(path, text);
    return true;
  }
  if (read_text(path) == text) return false;
  throw Error(Exit::data, "'{}' holds something else; remove it, or choose another folder", path);
}

}  // namespace ddptrain
