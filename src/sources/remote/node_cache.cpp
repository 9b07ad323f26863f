#include "sources/remote/node_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/progress.h"
#include "base/text.h"
#include "sources/remote/address.h"
#include "sources/shards/shard_index.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t download_piece = std::uint64_t{8} << 20;
constexpr int download_threads = 4;  // of one shard

/// The digest that the shard's index names; empty: none does.
std::string expected_digest(const FileSystem& far, const std::string& url, std::uint64_t size) {
  if (!url.ends_with(".tar")) return {};
  const auto file = shard_index_path(url);
  const auto there = far.info(file);
  if (there.kind != FileKind::file) return {};
  const auto index = ShardIndex::decode(far.read(file, 0, there.size));
  return index && index->size == size ? index->digest : std::string();
}

/// A file of a known size that is written from several threads.
class PartFile {
 public:
  explicit PartFile(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)) {
    if (file_ < 0) fail();
  }
  ~PartFile() { ::close(file_); }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  void write(std::string_view bytes, std::uint64_t at) {
    while (!bytes.empty()) {
      const auto written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
      at += static_cast<std::uint64_t>(written);
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(Exit::data, Option{"data.store.cache"}, "cannot write '{}': {}", path_,
                std::strerror(errno));
  }

  std::string path_;
  int file_;
};

struct CacheEntry {
  std::string path;
  std::uint64_t bytes = 0;
  fs::file_time_type used;
};

/// Files, the one not used for longest first; and in `bytes` those of all, also of parts.
std::vector<CacheEntry> entries_of(const std::string& folder, std::uint64_t& bytes) {
  std::vector<CacheEntry> entries;
  std::error_code gone;
  for (const auto& each : fs::directory_iterator(folder, gone)) {
    const auto extension = each.path().extension();
    if (extension != ".shard" && extension != ".part") continue;
    const auto path = each.path().string();
    const bool left_over = extension == ".part" && !FileLock::is_taken(path + ".lock");
    if (left_over && fs::remove(path, gone)) continue;
    CacheEntry entry{path, each.file_size(gone), each.last_write_time(gone)};
    if (gone) continue;
    bytes += entry.bytes;
    if (extension == ".shard") entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(),
            [](const CacheEntry& a, const CacheEntry& b) { return a.used < b.used; });
  return entries;
}

}  // namespace

std::optional<CachedShard> NodeCache::fetch(const std::string& url) const {
  const auto there = far_.info(url);
  if (there.kind != FileKind::file)
    throw Error(Exit::data, "cannot read '{}': {}", shown_address(url), there.why);
  if (there.size > limit_)
    throw Error(Exit::data, Option{"data.store.cache.limit"},
                "'{}' has {}, more than the {} of the cache", shown_address(url),
                format_bytes(static_cast<std::int64_t>(there.size)),
                format_bytes(static_cast<std::int64_t>(limit_)));
  if (!is_writable(folder_))
    throw Error(Exit::data, Option{"data.store.cache.folder"},
                "cannot write in '{}'; name another folder", folder_);
  make_folders(folder_);
  const auto name = sha256(fmt::format("{}\n{} {}", url, there.size, there.changed));
  const auto path = folder_ + "/" + name + ".shard", part = folder_ + "/" + name + ".part";
  if (auto shard = found(path, there.size)) return shard;
  const FileLock lock(part + ".lock");
  if (auto shard = found(path, there.size)) return shard;  // another process was first
  if (!reserve(part, there.size)) return {};
  download(url, part, there.size);
  fs::rename(part, path);
  return found(path, there.size);
}

std::optional<CachedShard> NodeCache::found(const std::string& path, std::uint64_t size) const {
  CachedShard shard{FileUse(path), path};
  const auto there = local_files().info(path);
  if (there.kind != FileKind::file) return {};
  if (there.size == size) return shard;
  std::error_code ignored;
  fs::remove(path, ignored);  // damaged since
  return {};
}

/// The part has its whole size from the beginning, so that other processes count it.
bool NodeCache::reserve(const std::string& part, std::uint64_t size) const {
  const FileLock all(folder_ + "/cache.lock");
  std::error_code ignored;
  fs::remove(part, ignored);  // of a process that was killed
  if (!make_room(size)) return false;
  write_atomically(part, "");
  fs::resize_file(part, size);
  return true;
}

bool NodeCache::make_room(std::uint64_t size) const {
  std::uint64_t bytes = 0;
  for (const auto& entry : entries_of(folder_, bytes)) {
    if (bytes + size <= limit_) break;
    if (remove_unused(entry.path)) bytes -= entry.bytes;
  }
  return bytes + size <= limit_;
}

void NodeCache::download_pieces(const std::string& url, const std::string& part,
                                std::uint64_t size) const {
  PartFile file(part);
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    try {
      for (auto at = next.fetch_add(download_piece); at < size; at = next.fetch_add(download_piece))
        file.write(far_.read(url, at, std::min(download_piece, size - at)), at);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next = size;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i < download_threads && static_cast<std::uint64_t>(i) * download_piece < size;
         ++i)
      threads.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

void NodeCache::download(const std::string& url, const std::string& part,
                         std::uint64_t size) const {
  std::error_code ignored;
  try {
    download_pieces(url, part, size);
  } catch (...) {
    fs::remove(part, ignored);
    throw;
  }
  progress();
  const auto wanted = expected_digest(far_, url, size);
  if (wanted.empty() || digest_file(DigestKind::sha256, part) == wanted) return;
  fs::remove(part, ignored);
  throw Error(
      Exit::data,
      "'{}' has another SHA-256 than its index says: it is damaged, or one of both was replaced",
      shown_address(url));
}

}  // namespace ddptrain
