#include "sources/remote/cached_files.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/output/log.h"
#include "base/text.h"
#include "sources/remote/address.h"

namespace ddptrain {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  return format_bytes(static_cast<std::int64_t>(bytes));
}

}  // namespace

CachedFiles::CachedFiles(std::unique_ptr<const FileSystem> far, const StoreCacheSpec& spec)
    : far_(std::move(far)),
      cache_(*far_, spec.folder.value_or(cache_folder() + "/fetched"),
             static_cast<std::uint64_t>(spec.limit.bytes)) {}

CachedFiles::~CachedFiles() = default;

bool CachedFiles::is_far_shard(const std::string& path) const {
  return is_address(path) && path.ends_with(".tar");
}

FileInfo CachedFiles::info(const std::string& path) const {
  return is_address(path) ? far_->info(path) : local_files().info(path);
}

std::string CachedFiles::list(const std::string& folder, const VisitEntry& visit) const {
  return is_address(folder) ? far_->list(folder, visit) : local_files().list(folder, visit);
}

std::string CachedFiles::list_beginning(const std::string& folder, const std::string& begin,
                                        const VisitEntry& visit) const {
  return (is_address(folder) ? *far_ : local_files()).list_beginning(folder, begin, visit);
}

std::string CachedFiles::read(const std::string& path, std::uint64_t offset,
                              std::uint64_t most) const {
  if (!is_address(path)) return local_files().read(path, offset, most);
  if (const auto here = mapped(path)) return local_files().read(here->path, offset, most);
  if (!is_far_shard(path)) return far_->read(path, offset, most);
  const auto here = shard(path);
  auto bytes = here ? local_files().read(here->path, offset, most) : far_->read(path, offset, most);
  did_read(path);
  return bytes;
}

MappedFile CachedFiles::map(const std::string& path) const {
  if (!is_address(path)) return local_files().map(path);
  auto here = mapped(path);
  if (!here) {
    auto fetched = cache_.fetch(path);
    if (!fetched)
      throw Error(Exit::data, Option{"data.store.cache.limit"},
                  "all of the {} of the cache are in use, and '{}' has no room",
                  bytes_text(cache_.limit()), shown_address(path));
    here = std::make_shared<const CachedShard>(std::move(*fetched));
    const std::lock_guard lock(mutex_);
    here = mapped_.try_emplace(path, std::move(here)).first->second;
  }
  return {here->path, path};
}

/// Null where the file was not mapped yet.
std::shared_ptr<const CachedShard> CachedFiles::mapped(const std::string& url) const {
  const std::lock_guard lock(mutex_);
  const auto found = mapped_.find(url);
  return found == mapped_.end() ? nullptr : found->second;
}

/// Null where there is no room for it.
std::shared_ptr<const CachedShard> CachedFiles::shard(const std::string& url) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = shards_.find(url); found != shards_.end()) return found->second;
  }
  auto here = keep(url);
  const std::lock_guard lock(mutex_);
  if (!here && !std::exchange(uncached_, true))
    log::warning(
        "data.store.cache.limit: all of the {} of the cache are in use; '{}' is read without it",
        bytes_text(cache_.limit()), shown_address(url));
  return here;
}

/// Fetches a shard and notes it as in use, if this rank is going to read it.
std::shared_ptr<const CachedShard> CachedFiles::keep(const std::string& url) const {
  auto fetched = cache_.fetch(url);
  if (!fetched) return nullptr;
  auto here = std::make_shared<const CachedShard>(std::move(*fetched));
  const std::lock_guard lock(mutex_);
  if (plan_.is_wanted(url)) return shards_.insert_or_assign(url, here).first->second;
  return here;
}

void CachedFiles::did_read(const std::string& url) const {
  const std::lock_guard lock(mutex_);
  if (plan_.did_read(url) || shards_.erase(url) == 0) return;
  ++generation_;
  changed_.notify_all();
}

void CachedFiles::announce(int reader, const std::vector<std::string>& files,
                           std::span<const std::int32_t> reads) const {
  if (files.empty() || !is_address(files.front())) return;
  const auto at_once =
      bytes_at_once(files, reads, [this](const auto& url) { return info(url).size; });
  if (at_once > cache_.limit())
    throw Error(Exit::data, Option{"data.store.cache.limit"},
                "the shards that are read at once have {}, the cache {}; a smaller 'window' of "
                "'sampler: {{type: shuffle, window: 4}}' reads fewer",
                bytes_text(at_once), bytes_text(cache_.limit()));
  const std::lock_guard lock(mutex_);
  plan_.announce(reader, files, reads);
  ahead_[reader] = std::min(cache_.limit(), 2 * at_once);
  std::erase_if(shards_, [&](const auto& each) { return !plan_.is_wanted(each.first); });
  if (!fetcher_.joinable())
    fetcher_ = std::jthread([this](const std::stop_token& stop) { fetch_ahead(stop); });
  ++generation_;
  changed_.notify_all();
}

/// The next shard to fetch ahead; empty: none now. The lock is held.
std::string CachedFiles::next_ahead() const {
  std::string next;
  std::map<int, std::uint64_t> bytes;
  plan_.visit([&](int reader, const std::string& url) {
    bytes[reader] += far_->info(url).size;
    if (!next.empty() || bytes[reader] > ahead_[reader]) return false;
    if (!shards_.contains(url)) next = url;
    return next.empty();
  });
  return next;
}

/// What goes wrong here goes wrong again where the shard is read, and is reported there.
void CachedFiles::fetch_ahead(const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto url = next_ahead();
    const auto seen = generation_;
    bool fetched = false;
    if (!url.empty()) {
      lock.unlock();
      try {
        fetched = keep(url) != nullptr;
      } catch (const std::exception&) {
      }
      lock.lock();
    }
    if (fetched) continue;
    changed_.wait_for(lock, stop, std::chrono::seconds(url.empty() ? 60 : 1),
                      [&] { return generation_ != seen; });
  }
}

}  // namespace ddptrain
