#include "sources/split/class_folders.h"

#include <algorithm>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kUsual{"val", "valid", "validation", "test"};
constexpr const char* kTakeSome = "valid: {fraction: 0.2, seed: 42}";

/// The first few folders, sorted.
std::vector<std::string> folders_below(const fs::path& root, std::size_t most) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with('.') && is_folder(entry.path())) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (names.size() > most) names.resize(most), names.emplace_back("...");
  return names;
}

}  // namespace

std::optional<std::string> usual_validation_folder(const std::string& root) {
  for (const auto& name : kUsual)
    if (is_folder(fs::path(root) / name)) return name;
  return {};
}

std::string validation_folder(const ValidSpec& spec, const std::string& root) {
  const auto usual = usual_validation_folder(root);
  if (spec.folder && usual && !is_folder(fs::path(root) / *spec.folder))
    throw Error(Exit::data, Option{"data.valid"},
                "no folder '" + (fs::path(root) / *spec.folder).string() +
                    "'; 'data.valid=" + *usual + "' takes the one that is there");
  if (spec.folder) return *spec.folder;
  if (!usual)
    throw Error(Exit::data, Option{"data.valid"},
                "no validation split in '" + root + "': none of the folders " + join(kUsual, ", ") +
                    " is there; write '" + kTakeSome + "' under data, or name a folder");
  log::info("validation split: '" + *usual + "' in '" + root + "'");
  return *usual;
}

void say_unused_folder(const ValidSpec& spec, const std::string& root, const std::string& train) {
  const auto usual = usual_validation_folder(root);
  if (spec.fold && usual && *usual != train)
    log::info("folder '" + *usual + "' in '" + root + "' is not used: a fold of '" + train +
              "' is held out");
}

void require_split(const std::string& root, const std::string& train) {
  const auto folder = (fs::path(root) / train).string();
  if (is_folder(folder)) return;
  const auto there = folders_below(root, 3);
  if (is_folder(root) && !there.empty())
    throw Error(Exit::data, Option{"data.train"},
                "no folder '" + folder + "'; '" + root + "' has " + join(there, ", ") +
                    ": if these are classes without a split, write 'train: .' and '" + kTakeSome +
                    "' under data");
  throw Error(Exit::data, Option{"data.train"},
              "no folder '" + folder + "'; name another, or an archive under data.source");
}

bool is_folder(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

std::vector<std::string> class_folders(const fs::path& folder, const std::string& option,
                                       const std::function<bool(const fs::path&)>& is_class) {
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_class(entry.path())) names.push_back(entry.path().filename().string());
  if (error)
    throw Error(Exit::data, Option{option},
                "cannot read folder '" + folder.string() + "': " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ddptrain
