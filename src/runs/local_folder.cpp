#include "runs/local_folder.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/text.h"
#include "runs/run_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLocalCheckpoints = "/local_checkpoints.txt";
constexpr std::size_t kDigits = 12;

}  // namespace

std::optional<std::string> known_local_folder_name(const std::string& folder) {
  const auto file = folder + kLocalCheckpoints;
  if (!fs::exists(file)) return {};
  const auto name = std::string(trim(read_text(file)));
  if (name.empty() || name.find('/') != std::string::npos || name[0] == '.')
    throw Error(Exit::data, "'{}' has no name of a folder: '{}'", file, shown(name, 200));
  return name;
}

std::string local_folder_name(const std::string& folder) {
  if (auto known = known_local_folder_name(folder)) return *known;
  const auto path = fs::absolute(folder).lexically_normal();
  const auto name = path.parent_path().filename().string() + "-" + path.filename().string() + "-" +
                    sha256(launch_name() + path.string()).substr(0, kDigits);
  write_atomically(folder + kLocalCheckpoints, name + "\n");
  return name;
}

}  // namespace ddptrain
