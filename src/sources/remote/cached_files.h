// A store of which what is read whole, or soon, is in a cache on this node.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "recipe/store_spec.h"
#include "sources/files/read_plan.h"
#include "sources/remote/node_cache.h"

namespace ddptrain {

/// Files that end with ".tar" and those that are mapped are fetched whole into the cache; others
/// are read where they are. What was mapped stays in the cache as long as this lives. Paths that
/// are no addresses are files of this machine. After announce(), a thread fetches the shards in the
/// order of their first read, twice as many bytes as are in use at once; a shard is let go after
/// its last read.
class CachedFiles final : public FileSystem {
 public:
  CachedFiles(std::unique_ptr<const FileSystem> far, const StoreCacheSpec& spec);
  ~CachedFiles() override;

  FileInfo info(const std::string& path) const override;
  std::string list(const std::string& folder, const VisitEntry& visit) const override;
  std::string list_beginning(const std::string& folder, const std::string& begin,
                             const VisitEntry& visit) const override;
  std::string read(const std::string& path, std::uint64_t offset,
                   std::uint64_t most) const override;
  /// An Error (Exit::data) names data.store.cache.limit where files that are in use leave no room.
  MappedFile map(const std::string& path) const override;
  /// An Error (Exit::data) names data.store.cache.limit where the shards that are in use at once
  /// have more bytes.
  void announce(int reader, const std::vector<std::string>& files,
                std::span<const std::int32_t> reads) const override;

 private:
  using Shards = std::map<std::string, std::shared_ptr<const CachedShard>>;

  bool is_far_shard(const std::string& path) const;
  std::shared_ptr<const CachedShard> shard(const std::string& url) const;
  std::shared_ptr<const CachedShard> keep(const std::string& url) const;
  void did_read(const std::string& url) const;
  void fetch_ahead(const std::stop_token& stop) const;
  std::string next_ahead() const;
  std::shared_ptr<const CachedShard> mapped(const std::string& url) const;

  std::unique_ptr<const FileSystem> far_;
  NodeCache cache_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable Shards shards_;  // in use
  mutable Shards mapped_;
  mutable ReadPlan plan_;
  mutable std::map<int, std::uint64_t> ahead_;  // bytes of wanted shards to have, by reader
  mutable bool uncached_ = false;               // a warning was given
  mutable std::uint64_t generation_ = 0;  // another after each change of what is to be fetched
  mutable std::jthread fetcher_;
};

}  // namespace ddptrain
