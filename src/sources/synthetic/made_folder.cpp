#include "sources/synthetic/made_folder.h"

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// True when the folder is there and holds what is asked for; an Error when it holds anything else.
bool is_complete(const fs::path& folder, const MadeFolder& made) {
  if (!fs::exists(folder)) return false;
  const bool is_folder = fs::is_directory(folder);
  if (is_folder && fs::exists(folder / made.mark)) {
    const std::string holds = read_text((folder / made.mark).string());
    if (holds == made.description + "\n") return true;
    throw Error(Exit::data, "'{}' holds other images ({}); remove it, or choose another folder",
                folder.string(), holds.substr(0, holds.find('\n')));
  }
  if (is_folder && fs::is_empty(folder)) return false;
  throw Error(Exit::data,
              "'{}' is not empty and was not made by this command; choose another folder",
              folder.string());
}

}  // namespace

void write_made_file(const fs::path& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) throw Error(Exit::data, "cannot write '{}': is the disk full?", path.string());
}

std::string file_number(int number) {
  std::string text = std::to_string(number);
  return std::string(4 - std::min<std::size_t>(4, text.size()), '0') + text;
}

bool make_folder(const std::string& folder, const MadeFolder& made,
                 const std::function<void(const fs::path&)>& write) {
  fs::path target(folder);
  if (!target.has_filename()) target = target.parent_path();  // a trailing slash
  if (is_complete(target, made)) return false;
  const auto parent = fs::absolute(target).parent_path();
  make_folders(parent.string());
  const ScratchFolder scratch((parent / ("." + target.filename().string() + ".made-")).string());
  const fs::path content = scratch.path() + "/data";  // with the rights that folders have here
  make_folders(content.string());
  write(content);
  write_made_file(content / made.mark, made.description + "\n");
  fs::rename(content, target);
  return true;
}

}  // namespace ddptrain
