// The files in tar shards as files: "data/train-000000.tar/n01440764_18.jpg".
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sources/files/file_system.h"
#include "sources/shards/shard_index.h"

namespace ddptrain {

/// Paths of other files are those of `files`, which must outlive this unless it is owned.
class ShardFiles final : public FileSystem {
 public:
  explicit ShardFiles(const FileSystem& files) : files_(files) {}
  explicit ShardFiles(std::unique_ptr<const FileSystem> files)
      : own_(std::move(files)), files_(*own_) {}

  /// Makes the members of a shard readable.
  void add(const std::string& shard, const ShardIndex& index);

  FileInfo info(const std::string& path) const override;
  /// The members of a shard, or what is in a folder.
  std::string list(const std::string& folder, const VisitEntry& visit) const override;
  std::string list_beginning(const std::string& folder, const std::string& begin,
                             const VisitEntry& visit) const override;
  std::string read(const std::string& path, std::uint64_t offset,
                   std::uint64_t most) const override;
  MappedFile map(const std::string& path) const override;
  void announce(int reader, const std::vector<std::string>& files,
                std::span<const std::int32_t> reads) const override {
    files_.announce(reader, files, reads);
  }

 private:
  struct Shard {
    std::string path;
    std::int64_t changed = 0;
    std::vector<TarMember> members;  // by name
  };
  struct Found {
    const Shard* shard = nullptr;
    const TarMember* member = nullptr;  // null: no such one
  };
  /// Null where the path is not in a shard.
  Found find(const std::string& path) const;

  std::unique_ptr<const FileSystem> own_;
  const FileSystem& files_;
  std::unordered_map<std::string, Shard> shards_;
};

}  // namespace ddptrain
