#include "sources/text/text_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/files/file_use.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/output/progress.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".ids";

void remove_leftovers(const fs::path& path) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored))
    if (entry.path().filename().string().starts_with(path.filename().string() + ".tmp"))
      fs::remove(entry.path(), ignored);
}

struct CachedText {
  std::string path;
  fs::file_time_type used;
  std::uintmax_t bytes = 0;
};

fs::file_time_type sign_of_life(const std::string& lock) {
  std::error_code none;
  return fs::last_write_time(lock, none);
}

// Once a second at most: this may be a folder on a network.
void show_life(const std::string& lock) {
  std::error_code none;
  const auto now = fs::file_time_type::clock::now();
  if (now - sign_of_life(lock) > std::chrono::seconds(1)) fs::last_write_time(lock, now, none);
}

/// Waits for the process that makes the file. Its progress is ours.
std::unique_ptr<FileLock> locked(const std::string& path) {
  auto seen = sign_of_life(path);
  bool waited = false;
  while (true) {
    auto lock = std::make_unique<FileLock>(path, FileLock::Wait::not_at_all);
    if (lock->held()) {
      if (waited) log::status("");
      return lock;
    }
    if (!waited) log::status("waiting for another process that reads these texts");
    waited = true;
    if (const auto last = sign_of_life(path); last != seen) {
      seen = last;
      progress();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Ours, that is: called by a digest.
bool is_packed_text(const std::string& name) {
  constexpr std::size_t digits = 64;
  return name.size() == digits + ending.size() && name.ends_with(ending) &&
         name.find_first_not_of("0123456789abcdef") == digits;
}

/// The packed texts of a folder, the one not used for longest first.
std::vector<CachedText> packed_texts(const std::string& folder) {
  std::vector<CachedText> found;
  std::error_code gone;
  for (const auto& file : fs::directory_iterator(folder, gone)) {
    if (!is_packed_text(file.path().filename().string())) continue;
    CachedText entry{file.path().string(), file.last_write_time(gone), 0};
    if (!gone) entry.bytes = file.file_size(gone);
    if (!gone) found.push_back(std::move(entry));
  }
  std::sort(found.begin(), found.end(),
            [](const CachedText& a, const CachedText& b) { return a.used < b.used; });
  return found;
}

}  // namespace

std::string default_text_cache() { return cache_folder() + "/text"; }

std::string text_cache_file(const std::string& folder, const std::string& key) {
  return folder + "/" + key + std::string(ending);
}

PackedText cached_text(const std::string& folder, const std::string& key,
                       const std::function<TextPack()>& make) {
  const auto path = text_cache_file(folder, key);
  if (auto found = PackedText::open(path)) return std::move(*found);
  if (!is_writable(folder))
    throw Error(Exit::data, Option{"data.cache"}, "cannot write in '{}'; name another folder",
                folder);
  make_folders(folder);
  const auto lock = locked(path + ".lock");
  if (auto found = PackedText::open(path)) return std::move(*found);  // another process made it
  remove_leftovers(path);
  if (fs::exists(path)) log::warning("'{}' is damaged; it is rebuilt", path);
  {
    const ProgressListener sign([&] { show_life(path + ".lock"); });
    write_atomically(path, PackedText::encode(make()));
  }
  auto made = PackedText::open(path);
  DDP_CHECK(made.has_value(), "what was written reads");
  prune_text_cache(folder);
  return std::move(*made);
}

void prune_text_cache(const std::string& folder, const TextCacheLimits& limits) {
  const auto entries = packed_texts(folder);
  std::uintmax_t bytes = 0;
  for (const auto& entry : entries) bytes += entry.bytes;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : entries) {
    const auto since = now - entry.used;
    if (since < limits.fresh || (bytes <= limits.bytes && since < limits.unused)) return;
    if (!remove_unused(entry.path)) continue;
    bytes -= entry.bytes;
    remove_free_lock(entry.path + ".lock");
    log::info("removed '{}' ({}), a text cache long unused", entry.path,
              format_bytes(static_cast<std::int64_t>(entry.bytes)));
  }
}

}  // namespace ddptrain
