// Files that lie nowhere but in a test, for what reads through a FileSystem.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "sources/files/file_system.h"

namespace ddptrain::test {

class MemoryFiles final : public FileSystem {
 public:
  void add(const std::string& path, std::string content) { files_[path] = std::move(content); }

  FileInfo info(const std::string& path) const override {
    const auto file = files_.find(path);
    if (file != files_.end()) return {FileKind::file, file->second.size(), 1};
    const auto below = files_.lower_bound(folder_of(path));
    const bool folder = below != files_.end() && below->first.starts_with(folder_of(path));
    if (folder) return {FileKind::folder, 0, 0, "it is a folder"};
    return {FileKind::none, 0, 0, "there is no such file"};
  }

  std::string list(const std::string& folder, const VisitEntry& visit) const override {
    const auto begin = folder_of(folder);
    std::set<std::string> paths;
    for (const auto& [path, content] : files_)
      if (path.starts_with(begin)) paths.insert(path.substr(0, path.find('/', begin.size())));
    for (const auto& path : paths) visit({path, info(path).kind});
    return paths.empty() ? "there is no such folder" : "";
  }

  std::string read(const std::string& path, std::uint64_t offset,
                   std::uint64_t most) const override {
    const auto& content = content_of(path);
    return offset < content.size() ? content.substr(offset, most) : std::string();
  }

  MappedFile map(const std::string& path) const override {
    const auto& content = content_of(path);
    return {std::vector<std::uint8_t>(content.begin(), content.end()), path};
  }

 private:
  static std::string folder_of(const std::string& path) {
    return path.ends_with('/') ? path : path + "/";
  }
  const std::string& content_of(const std::string& path) const {
    const auto found = files_.find(path);
    if (found == files_.end()) throw Error(Exit::data, "cannot read '" + path + "': not there");
    return found->second;
  }

  std::map<std::string, std::string> files_;
};

}  // namespace ddptrain::test
