// Files of every kind of address, each read by a store that is opened with its first file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sources/files/file_system.h"

namespace ddptrain {

class Stores final : public FileSystem {
 public:
  /// Opens what reads addresses of the scheme that `url` has (open_store).
  using OpenStore = std::function<std::unique_ptr<const FileSystem>(const std::string& url)>;
  explicit Stores(OpenStore open) : open_(std::move(open)) {}

  FileInfo info(const std::string& url) const override { return of(url).info(url); }
  std::string list(const std::string& folder, const VisitEntry& visit) const override {
    return of(folder).list(folder, visit);
  }
  std::string list_beginning(const std::string& folder, const std::string& begin,
                             const VisitEntry& visit) const override {
    return of(folder).list_beginning(folder, begin, visit);
  }
  std::string read(const std::string& url, std::uint64_t offset,
                   std::uint64_t most) const override {
    return of(url).read(url, offset, most);
  }
  MappedFile map(const std::string& url) const override { return of(url).map(url); }

 private:
  const FileSystem& of(const std::string& url) const;

  OpenStore open_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const FileSystem>> stores_;  // by scheme
};

}  // namespace ddptrain
