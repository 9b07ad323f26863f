#include "cli/cache/cache_kinds.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/files/file_use.h"
#include "base/files/files.h"
#include "base/text.h"
#include "weights/folder.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".tmp";  // temporary_name(), base/files/atomic_file.h
constexpr std::time_t kAbandoned = 3600;         // seconds after which no process writes it

using Items = std::vector<KeptItem>;
using NameOfLock = std::function<std::string(const std::string& name)>;

std::string in_cache(std::string_view name) { return cache_folder() + "/" + std::string(name); }

/// Where scripts/setup keeps what it downloads.
std::string setup_folder() {
  const char* given = std::getenv("DDPTRAIN_DEPS");
  if (given && *given) return given;
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/ddptrain" : cache_folder();
}

[[noreturn]] void fail_at(const std::string& what, const std::string& path, std::error_code why) {
  throw Error(Exit::data, "cannot {} '{}': {}", what, path, why.message());
}

/// Sorted names; none where the folder is missing.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code why;
  fs::directory_iterator entries(folder, why);
  if (why == std::errc::no_such_file_or_directory) return names;
  for (; !why && entries != fs::directory_iterator(); entries.increment(why))
    names.push_back(entries->path().filename().string());
  if (why) fail_at("read the folder", folder, why);
  std::sort(names.begin(), names.end());
  return names;
}

bool is_lock(const std::string& name) { return name.ends_with(".lock"); }

/// Files of a folder that only ddptrain writes to; `lock_of` names the lock of one.
Items files_of(const std::string& folder, const NameOfLock& lock_of) {
  Items items;
  for (const auto& name : names_in(folder)) {
    if (is_lock(name)) continue;
    const auto lock = lock_of(name.substr(0, name.find(kTemporary)));
    items.push_back({folder + "/" + name, lock.empty() ? "" : folder + "/" + lock});
  }
  return items;
}

std::vector<std::string> locks_of(const std::string& folder) {
  std::vector<std::string> locks;
  for (const auto& name : names_in(folder))
    if (is_lock(name)) locks.push_back(folder + "/" + name);
  return locks;
}

std::string without_ending(const std::string& name) { return name.substr(0, name.rfind('.')); }

/// Of set-up, whose lock is held while it downloads.
Items setup_items(const std::vector<std::string_view>& beginnings) {
  Items items;
  const auto folder = setup_folder();
  for (const auto& name : names_in(folder))
    if (std::any_of(beginnings.begin(), beginnings.end(),
                    [&](std::string_view begin) { return name.starts_with(begin); }))
      items.push_back({folder + "/" + name, folder + "/lock"});
  return items;
}

std::vector<std::string> no_locks() { return {}; }

/// $DDPTRAIN_WEIGHTS may hold files of others: only those whose names are ours.
Items weights_items() {
  Items items;
  for (const auto& weights : published_weights())
    for (const std::string ending : {"", ".sha256"})
      if (const auto path = weights_path(weights) + ending; fs::exists(path))
        items.push_back({path, weights_path(weights) + ".lock"});
  return items;
}

std::vector<std::string> weights_locks() {
  std::vector<std::string> locks;
  for (const auto& weights : published_weights())
    if (const auto path = weights_path(weights) + ".lock"; fs::exists(path)) locks.push_back(path);
  return locks;
}

Items schema_items() {
  Items items;
  for (const auto& name : names_in(cache_folder()))
    if (name.starts_with("recipe.json")) items.push_back({in_cache(name), ""});
  return items;
}

std::vector<CacheKind> all_kinds() {
  return {
      {"text", "token ids of texts", "a run", true, [] { return in_cache("text"); },
       [] { return files_of(in_cache("text"), [](const auto& name) { return name + ".lock"; }); },
       [] { return locks_of(in_cache("text")); }},
      {"images", "decoded images", "a run", true, [] { return in_cache("images"); },
       [] { return files_of(in_cache("images"), [](const auto& name) { return name + ".lock"; }); },
       [] { return locks_of(in_cache("images")); }},
      {"shards", "indexes of tar shards", "a run", true, [] { return in_cache("shards"); },
       [] {
         return files_of(in_cache("shards"),
                         [](const auto& name) { return without_ending(name) + ".lock"; });
       },
       [] { return locks_of(in_cache("shards")); }},
      {"fetched", "files of stores", "a run, by downloading", true,
       [] { return in_cache("fetched"); },
       [] {
         return files_of(in_cache("fetched"),
                         [](const auto& name) { return without_ending(name) + ".part.lock"; });
       },
       [] { return locks_of(in_cache("fetched")); }},
      {"kernels", "compiled GPU kernels", "a run", true, [] { return in_cache("kernels"); },
       [] { return files_of(in_cache("kernels"), [](const auto&) { return std::string(); }); },
       no_locks},
      {"weights", "published weights", "ddptrain weights get", false, weights_folder, weights_items,
       weights_locks},
      {"schema", "the schema that editors check recipes with", "ddptrain init", false,
       [] { return in_cache("recipe.json"); }, schema_items, no_locks},
      {"libtorch", "LibTorch", "make setup", false, setup_folder,
       [] { return setup_items({"libtorch-"}); }, no_locks},
      {"arrow", "Arrow", "make setup", false, setup_folder, [] { return setup_items({"arrow-"}); },
       no_locks},
      {"tools", "what scripts of the source tree installed", "those scripts", false, setup_folder,
       [] {
         return setup_items({"checker-", "mkdocs-", "screenshot-"});
       },
       no_locks}};
}

KeptAmount amount_of(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return {};  // removed meanwhile
  KeptAmount sum;
  if (S_ISDIR(about.st_mode)) {
    for (const auto& name : names_in(path)) sum.add(amount_of(path + "/" + name));
    return sum;
  }
  const bool is_file = S_ISREG(about.st_mode);
  return {1, is_file ? static_cast<std::int64_t>(about.st_size) : 0,
          std::max(about.st_atime, about.st_mtime)};
}

/// A process of this user that has mapped a file below the folder: "process 4711".
std::string process_that_maps(const std::string& folder) {
  std::error_code unknown;
  const auto below = fs::weakly_canonical(folder, unknown).string() + "/";
  for (const auto& name : names_in("/proc")) {
    if (!parse_integer(name)) continue;
    try {
      if (read_text(fmt::format("/proc/{}/maps", name)).find(" " + below) != std::string::npos)
        return "process " + name;
    } catch (const Error&) {
      continue;  // of another user, or it has ended
    }
  }
  return "";
}

/// Whether it was removed; else `user` may name who uses it.
bool removed_tree(const std::string& path, std::string& user) {
  user = process_that_maps(path);
  if (!user.empty()) return false;
  std::error_code why;
  fs::remove_all(path, why);
  if (why) fail_at("remove", path, why);
  return true;
}

bool may_be_written(const KeptItem& item, const KeptAmount& amount) {
  return item.lock.empty() && item.path.find(kTemporary) != std::string::npos &&
         std::time(nullptr) - amount.used < kAbandoned;
}

/// The lock is held, or there is none.
bool removed_now(const KeptItem& item, std::string& user) {
  if (fs::is_directory(item.path) && !fs::is_symlink(item.path))
    return removed_tree(item.path, user);
  return removed_unless_in_use(item.path);
}

bool removed_item(const KeptItem& item, const KeptAmount& amount, std::string& user) {
  if (may_be_written(item, amount)) return false;
  if (item.lock.empty()) return removed_now(item, user);
  const FileLock lock(item.lock, FileLock::Wait::not_at_all);
  return lock.held() && removed_now(item, user);
}

}  // namespace

const std::vector<CacheKind>& cache_kinds() {
  static const auto kinds = all_kinds();
  return kinds;
}

void KeptAmount::add(const KeptAmount& other) {
  files += other.files;
  bytes += other.bytes;
  used = std::max(used, other.used);
}

KeptAmount kept(const CacheKind& kind) {
  KeptAmount sum;
  for (const auto& item : kind.items()) sum.add(amount_of(item.path));
  return sum;
}

ClearedKind clear(const CacheKind& kind) {
  ClearedKind cleared;
  for (const auto& item : kind.items()) {
    const auto amount = amount_of(item.path);
    const bool removed = removed_item(item, amount, cleared.user);
    (removed ? cleared.removed : cleared.in_use).add(amount);
  }
  for (const auto& lock : kind.locks()) remove_free_lock(lock);
  return cleared;
}

KeptAmount kept_by_others() {
  std::vector<std::string> ours;
  for (const auto& kind : cache_kinds()) {
    ours.push_back(kind.place());
    for (const auto& item : kind.items()) ours.push_back(item.path);
  }
  KeptAmount sum;
  for (const auto& name : names_in(cache_folder())) {
    const auto path = in_cache(name);
    if (name != "lock" && std::find(ours.begin(), ours.end(), path) == ours.end())
      sum.add(amount_of(path));
  }
  return sum;
}

}  // namespace ddptrain
