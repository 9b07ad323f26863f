#include "sources/shards/shard_set.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "sources/brace_pattern.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// The shards of a folder below root whose names match (fnmatch), sorted.
std::vector<std::string> shards_in(const FileSystem& files, const std::string& root,
                                   const fs::path& folder, const std::string& wanted,
                                   const std::string& option) {
  std::vector<std::string> names;
  const auto path = folder.empty() || folder == "." ? root : (fs::path(root) / folder).string();
  const auto begin = wanted.substr(0, wanted.find_first_of("*?[\\"));  // before any wildcard
  const auto why = files.list_beginning(path, begin, [&](const FileEntry& entry) {
    const auto name = fs::path(entry.path).filename();
    if (entry.kind == FileKind::file && ::fnmatch(wanted.c_str(), name.c_str(), 0) == 0)
      names.push_back((folder / name).lexically_normal().string());
  });
  if (!why.empty())
    throw Error(Exit::data, Option{option}, "cannot read folder '{}': {}", path, why);
  if (names.empty())
    throw Error(Exit::data, Option{option}, "no shards ({}) in '{}'", wanted, path);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> shard_names(const FileSystem& files, const std::string& root,
                                     const std::string& pattern, const std::string& option) {
  const fs::path path_pattern = pattern;
  if (pattern.find('*') != pattern.npos)
    return shards_in(files, root, path_pattern.parent_path(), path_pattern.filename(), option);
  const bool named = has_braces(pattern) || pattern.ends_with(".tar");
  if (!named) return shards_in(files, root, path_pattern, "*.tar", option);
  const auto names = expand_braces(pattern);
  for (const auto& name : names) {
    const auto path = (fs::path(root) / name).string();
    const auto info = files.info(path);
    if (info.kind != FileKind::file)
      throw Error(Exit::data, Option{option}, "shard '{}' cannot be read: {}", path, info.why);
  }
  return names;
}

}  // namespace ddptrain
