// What lies where in a tar shard, kept in a file so that the shard's headers are read once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/shards/tar.h"

namespace ddptrain {

/// `size` and `changed` are those of the shard when it was indexed (FileInfo): another of either
/// makes an index stale. `digest` is the SHA-256 of the shard where its writer knew it, else empty.
/// Members of up to 4 KiB that say what a sample is (.cls, .json) have their content.
struct ShardIndex {
  std::uint64_t size = 0;
  std::int64_t changed = 0;
  std::string digest = {};
  std::vector<TarMember> members = {};

  std::string encode() const;
  /// Nothing where the bytes are not an index, or a damaged one.
  static std::optional<ShardIndex> decode(std::string_view bytes);
};

/// Whether an index has the member's content.
bool is_indexed_whole(const TarMember& member);

inline std::string shard_index_path(const std::string& shard) { return shard + ".index"; }

/// The index of a shard: a fresh one next to it or in the user's cache folder
/// (base/files/cache_folder.h), or one that is made, and written into the first of these that can
/// be. Processes that need the same one wait for the first. Errors are those of read_tar.
ShardIndex indexed(const FileSystem& files, const std::string& shard);

}  // namespace ddptrain
