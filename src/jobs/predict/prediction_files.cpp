#include "jobs/predict/prediction_files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// The folder that two paths have in common.
fs::path common_folder(const fs::path& a, const fs::path& b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  fs::path common;
  for (auto part = a.begin(); part != ends.first; ++part) common /= *part;
  return common;
}

fs::path whole_path(const std::string& path) { return fs::absolute(path).lexically_normal(); }

}  // namespace

std::vector<std::string> prediction_files(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  auto folder = whole_path(paths.front()).parent_path();
  for (const auto& path : paths) folder = common_folder(folder, whole_path(path).parent_path());
  std::vector<fs::path> names;
  std::map<fs::path, std::set<fs::path>> extensions;  // of each name
  for (const auto& path : paths) {
    names.push_back(whole_path(path).lexically_relative(folder));
    extensions[fs::path(names.back()).replace_extension()].insert(names.back().extension());
  }
  std::vector<std::string> files;
  for (const auto& name : names) {
    const auto bare = fs::path(name).replace_extension();
    files.push_back((extensions.at(bare).size() > 1 ? name : bare).string());
  }
  return files;
}

}  // namespace ddptrain
