#include "sources/split/class_folders.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/output/log.h"
#include "base/text.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kUsual{"val", "valid", "validation", "test"};
constexpr const char* kTakeSome = "valid: {fraction: 0.2, seed: 42}";

std::string entry_name(const std::string& path) { return fs::path(path).filename().string(); }

std::string path_in(const std::string& root, const std::string& name) {
  return (fs::path(root) / name).string();
}

/// The first few folders, sorted.
std::vector<std::string> folders_below(const FileSystem& files, const std::string& root,
                                       std::size_t most) {
  std::vector<std::string> names;
  files.list(root, [&](const FileEntry& entry) {
    const auto name = entry_name(entry.path);
    if (!name.starts_with('.') && entry.kind == FileKind::folder) names.push_back(name);
  });
  std::sort(names.begin(), names.end());
  if (names.size() > most) names.resize(most), names.emplace_back("...");
  return names;
}

}  // namespace

std::optional<std::string> usual_validation_folder(const std::string& root,
                                                   const FileSystem& files) {
  for (const auto& name : kUsual)
    if (is_folder(files, path_in(root, name))) return name;
  return {};
}

std::string validation_folder(const FileSystem& files, const ValidSpec& spec,
                              const std::string& root) {
  const auto usual = usual_validation_folder(root, files);
  if (spec.folder && usual && !is_folder(files, path_in(root, *spec.folder)))
    throw Error(Exit::data, Option{"data.valid"},
                "no folder '{}'; 'data.valid={}' takes the one that is there",
                path_in(root, *spec.folder), *usual);
  if (spec.folder) return *spec.folder;
  if (!usual)
    throw Error(Exit::data, Option{"data.valid"},
                "no validation split in '{}': none of the folders {} is there; write '{}' under "
                "data, or name a folder",
                root, join(kUsual, ", "), kTakeSome);
  log::info("validation split: '{}' in '{}'", *usual, root);
  return *usual;
}

void say_unused_folder(const FileSystem& files, const ValidSpec& spec, const std::string& root,
                       const std::string& train) {
  const auto usual = usual_validation_folder(root, files);
  if (spec.fold && usual && *usual != train)
    log::info("folder '{}' in '{}' is not used: a fold of '{}' is held out", *usual, root, train);
}

void require_split(const FileSystem& files, const std::string& root, const std::string& train) {
  const auto folder = path_in(root, train);
  if (is_folder(files, folder)) return;
  const auto there = folders_below(files, root, 3);
  if (is_folder(files, root) && !there.empty())
    throw Error(Exit::data, Option{"data.train"},
                "no folder '{}'; '{}' has {}: if these are classes without a split, write 'train: "
                ".' and '{}' under data",
                folder, root, join(there, ", "), kTakeSome);
  throw Error(Exit::data, Option{"data.train"},
              "no folder '{}'; name another, or an archive under data.source", folder);
}

std::vector<std::string> class_folders(const FileSystem& files, const std::string& folder,
                                       const std::string& option,
                                       const std::function<bool(const FileEntry&)>& is_class) {
  std::vector<std::string> names;
  const auto why = files.list(folder, [&](const FileEntry& entry) {
    if (is_class(entry)) names.push_back(entry_name(entry.path));
  });
  if (!why.empty())
    throw Error(Exit::data, Option{option}, "cannot read folder '{}': {}", folder, why);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ddptrain
