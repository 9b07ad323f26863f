// Samples into tar shards, as WebDataset reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files/atomic_file.h"
#include "base/files/digest.h"
#include "sources/shards/shard_index.h"

namespace ddptrain {

struct ShardColumn {
  std::string extension;
  std::string content;
};

struct WrittenShard {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t samples = 0;
  std::string sha256 = {};
};

/// Writes FOLDER/PREFIX-000000.tar and so on, each with its index next to it, whole or not at all.
/// A shard that is there with its index, from a call that was interrupted, stays, and its samples
/// are not asked for again: the same samples must come in the same order.
class ShardWriter {
 public:
  /// A shard has at least one sample, and no second one that would take it above `most` bytes.
  ShardWriter(std::string folder, std::string prefix, std::uint64_t most);

  /// `columns` is called where the sample is written. The key is at most 80 bytes, without dots.
  void add(const std::string& key, const std::function<std::vector<ShardColumn>()>& columns);
  /// All shards, once, after the last sample.
  std::vector<WrittenShard> finish();

 private:
  /// The shard that is being written.
  struct Open {
    explicit Open(const std::string& path) : file(path) {}
    void write(std::string_view bytes);
    AtomicFile file;
    Digest digest{DigestKind::sha256};
    ShardIndex index = {};
    std::int64_t samples = 0;
  };
  std::string next_name() const;
  void skip_written();
  void close();

  std::string folder_, prefix_;
  std::uint64_t most_;
  std::int64_t skip_ = 0;  // samples of a shard that is there
  std::unique_ptr<Open> open_;
  std::vector<WrittenShard> written_;
};

}  // namespace ddptrain
