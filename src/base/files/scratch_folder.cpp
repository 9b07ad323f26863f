#include "base/files/scratch_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace ddptrain {

namespace fs = std::filesystem;

namespace {

fs::path temporary_folder() {
  std::error_code code;
  const auto folder = fs::temp_directory_path(code);
  if (code)
    throw Error(Exit::data, "no folder for temporary files: " + code.message() + " (TMPDIR)");
  return folder;
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& start) : path_(start + "XXXXXX") {
  const bool placed = fs::path(start).is_absolute();
  if (!placed) path_ = (temporary_folder() / path_).string();
  if (::mkdtemp(path_.data())) return;
  const std::string reason = std::strerror(errno);
  throw Error(Exit::data, "cannot make a folder in '" + fs::path(path_).parent_path().string() +
                              "': " + reason + (placed ? "" : " (TMPDIR)"));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ddptrain
