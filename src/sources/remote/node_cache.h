// Files of a store in a folder of this node, for all of its processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files/file_use.h"
#include "sources/files/file_system.h"

namespace ddptrain {

/// A file that is here, and stays here as long as this lives.
struct CachedShard {
  FileUse use;
  std::string path;
};

/// One process fetches a file, others that need it wait. A file has its final name when all of it
/// is here and, if it is a shard whose index names a digest (sources/shards/shard_index.h), has
/// that digest. All files together have at most `limit` bytes: those whose last use is longest ago
/// are removed, unless one is in use.
class NodeCache {
 public:
  /// `far` must outlive the cache.
  NodeCache(const FileSystem& far, std::string folder, std::uint64_t limit)
      : far_(far), folder_(std::move(folder)), limit_(limit) {}

  /// Nothing where there is no room, since all that is here is in use. Errors (Exit::data): those
  /// of reading, another digest, a file larger than the limit (data.store.cache.limit), a full
  /// disk.
  std::optional<CachedShard> fetch(const std::string& url) const;

  std::uint64_t limit() const { return limit_; }

 private:
  std::optional<CachedShard> found(const std::string& path, std::uint64_t size) const;
  bool reserve(const std::string& part, std::uint64_t size) const;
  bool make_room(std::uint64_t size) const;
  void download_pieces(const std::string& url, const std::string& part, std::uint64_t size) const;
  void download(const std::string& url, const std::string& part, std::uint64_t size) const;

  const FileSystem& far_;
  std::string folder_;
  std::uint64_t limit_;
};

}  // namespace ddptrain
