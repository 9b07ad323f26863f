#include "sources/remote/node_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "sources/remote/cached_files.h"
#include "sources/remote/store_server.h"
#include "sources/shards/shard_index.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A store in memory that counts bytes that are read.
class MemoryStore final : public FileSystem {
 public:
  void add(const std::string& url, std::string content) { files_[url] = std::move(content); }
  FileInfo info(const std::string& url) const override {
    const auto found = files_.find(url);
    if (found == files_.end()) return {FileKind::none, 0, 0, "not there"};
    return {FileKind::file, found->second.size(), 1, {}};
  }
  std::string list(const std::string&, const VisitEntry&) const override { return "not listed"; }
  std::string read(const std::string& url, std::uint64_t offset,
                   std::uint64_t most) const override {
    const auto bytes = files_.at(url).substr(offset, most);
    if (url.ends_with(".tar")) bytes_read += bytes.size();
    return bytes;
  }
  MappedFile map(const std::string& url) const override {
    const auto& all = files_.at(url);
    return {std::vector<std::uint8_t>(all.begin(), all.end()), url};
  }
  mutable std::atomic<std::uint64_t> bytes_read = 0;

 private:
  std::map<std::string, std::string> files_;
};

std::string shard_url(int number) { return "http://store/" + std::to_string(number) + ".tar"; }

/// Five shards of 1000 bytes each.
struct FiveShards {
  FiveShards() {
    for (int i = 0; i < 5; ++i)
      store.add(shard_url(i), std::string(1000, static_cast<char>('a' + i)));
  }
  std::uint64_t bytes_here() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder.path()))
      if (entry.path().extension() == ".shard") bytes += entry.file_size();
    return bytes;
  }
  MemoryStore store;
  TemporaryFolder folder;
};

template <class Action>
std::string cache_problem(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

TEST(NodeCache, FetchesAShardOnceForManyThreads) {
  FiveShards all;
  const NodeCache cache(all.store, all.folder.path(), 3000);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        const auto shard = cache.fetch(shard_url(1));
        EXPECT_EQ(read_text(shard->path), std::string(1000, 'b'));
      });
  }
  EXPECT_EQ(all.store.bytes_read, 1000);
}

TEST(NodeCache, KeepsToItsLimitAndRemovesWhatIsNotInUse) {
  FiveShards all;
  const NodeCache cache(all.store, all.folder.path(), 2500);
  const auto held = cache.fetch(shard_url(0));
  for (int i = 1; i < 5; ++i) {
    ASSERT_TRUE(cache.fetch(shard_url(i)));
    EXPECT_LE(all.bytes_here(), 2500);
  }
  EXPECT_TRUE(fs::exists(held->path));
  const auto other = cache.fetch(shard_url(4));
  EXPECT_FALSE(cache.fetch(shard_url(2)));  // both places are in use
  EXPECT_EQ(all.store.bytes_read, 5000);
}

TEST(NodeCache, NamesAShardThatIsTooLargeAndAFolderThatIsNotWritable) {
  FiveShards all;
  EXPECT_EQ(
      cache_problem([&] { NodeCache(all.store, all.folder.path(), 500).fetch(shard_url(0)); }),
      "data.store.cache.limit: 'http://store/0.tar' has 1000 B, more than the 500 B of the cache");
  EXPECT_THAT(cache_problem([&] { NodeCache(all.store, "/proc/none", 5000).fetch(shard_url(0)); }),
              HasSubstr("'/proc/none'"));
}

TEST(NodeCache, ChecksTheDigestOfTheIndex) {
  FiveShards all;
  ShardIndex index{1000, 7, sha256(std::string(1000, 'a')), {}};
  all.store.add(shard_url(0) + ".index", index.encode());
  const NodeCache cache(all.store, all.folder.path(), 5000);
  EXPECT_TRUE(cache.fetch(shard_url(0)));
  index.digest = sha256("other");
  all.store.add(shard_url(1) + ".index", index.encode());
  EXPECT_THAT(cache_problem([&] { cache.fetch(shard_url(1)); }),
              HasSubstr("'http://store/1.tar' has another SHA-256 than its index says"));
  EXPECT_EQ(all.bytes_here(), 1000);
}

TEST(NodeCache, RemovesWhatAKilledProcessLeft) {
  FiveShards all;
  all.folder.write("left.part", std::string(2400, 'x'));
  const NodeCache cache(all.store, all.folder.path(), 2500);
  EXPECT_TRUE(cache.fetch(shard_url(0)));
  EXPECT_FALSE(fs::exists(all.folder / "left.part"));
}

/// Shards 0 .. 4, read `reads` in this order.
struct Announced {
  explicit Announced(std::uint64_t limit) {
    auto owned = std::make_unique<MemoryStore>();
    store = owned.get();
    for (int i = 0; i < 5; ++i) {
      urls.push_back(shard_url(i));
      store->add(urls.back(), std::string(1000, static_cast<char>('a' + i)));
    }
    StoreCacheSpec options;
    options.folder = folder.path();
    options.limit.bytes = static_cast<std::int64_t>(limit);
    files.emplace(std::move(owned), options);
  }
  TemporaryFolder folder;
  MemoryStore* store = nullptr;
  std::vector<std::string> urls;
  std::optional<CachedFiles> files;
};

TEST(CachedFiles, ReadEachShardFromTheStoreOnce) {
  Announced all(2000);
  const std::vector<std::int32_t> reads{0, 0, 1, 1, 2, 3, 2, 4};
  all.files->announce(0, all.urls, reads);
  for (const auto read : reads)
    EXPECT_EQ(all.files->read(all.urls[static_cast<std::size_t>(read)], 999, 10),
              std::string(1, static_cast<char>('a' + read)));
  EXPECT_EQ(all.store->bytes_read, 5000);
}

TEST(CachedFiles, AnOrderThatNeedsMoreAtOnceThanTheCacheHoldsIsNamed) {
  Announced all(2000);
  EXPECT_EQ(
      cache_problem([&] {
        all.files->announce(0, all.urls, std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
      }),
      "data.store.cache.limit: the shards that are read at once have 2.9 KiB, the cache 2.0 KiB; a "
      "smaller 'window' of 'sampler: {type: shuffle, window: 4}' reads fewer");
}

TEST(CachedFiles, ShardsWithoutRoomAreReadInPlace) {
  Announced all(1500);
  all.files->announce(0, all.urls, std::vector<std::int32_t>{0, 0});
  EXPECT_EQ(all.files->read(all.urls[0], 0, 1), "a");
  EXPECT_EQ(all.files->read(all.urls[1], 0, 1), "b");  // 0 is still in use
  EXPECT_EQ(all.store->bytes_read, 1001);
}

TEST(CachedFiles, AFileThatIsMappedIsFetchedOnceAndStays) {
  Announced all(1500);
  all.store->add("s3://b/table.csv", std::string(1000, 't'));
  const auto first = all.files->map("s3://b/table.csv");
  EXPECT_EQ(first.path(), "s3://b/table.csv");
  EXPECT_EQ(first.bytes().size(), 1000);
  all.store->add("s3://b/table.csv", std::string(1000, 'u'));
  EXPECT_EQ(all.files->map("s3://b/table.csv").bytes()[0], 't');
  EXPECT_EQ(all.files->read("s3://b/table.csv", 999, 5), "t");
  all.store->add("s3://b/second.csv", std::string(1000, 'v'));
  EXPECT_EQ(cache_problem([&] { all.files->map("s3://b/second.csv"); }),
            "data.store.cache.limit: all of the 1.5 KiB of the cache are in use, and "
            "'s3://b/second.csv' has no room");
}

TEST(CachedFiles, FilesOfThisMachineStayThere) {
  Announced all(1500);
  const auto file = all.folder.write("list.txt", "text");
  EXPECT_EQ(all.files->read(file, 0, 10), "text");
  EXPECT_EQ(all.files->info(file).size, 4);
}

}  // namespace
}  // namespace ddptrain
