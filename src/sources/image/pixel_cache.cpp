#include "sources/image/pixel_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/cache_folder.h"
#include "base/files/digest.h"
#include "base/output/log.h"
#include "base/random.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kUnit = 64;  // entries begin at multiples of it
constexpr std::uint64_t kMostProbes = 64;
constexpr int kTagBits = 20;  // of a word: bits of the name; above them the unit
constexpr std::array<char, 16> kPixelMagic{"ddptrain pixels"};
constexpr std::string_view kPixelEnding = ".pixels";
constexpr auto kLongUnused = std::chrono::hours(24 * 60);

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

/// The same until the machine starts again; empty: unknown.
std::array<char, 40> boot_of_machine() {
  std::array<char, 40> boot{};
  try {
    const auto text = read_beginning("/proc/sys/kernel/random/boot_id", boot.size() - 1);
    std::copy(text.begin(), text.end(), boot.begin());
  } catch (const Error&) {
    return {};
  }
  return boot;
}

std::string machine_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return host.data();
}

[[noreturn]] void fail_at(const std::string& what, const std::string& path, int reason) {
  throw Error(Exit::data, "cannot {} '{}': {}", what, path,
              std::generic_category().message(reason));
}

bool write_whole(int file, const void* from, std::uint64_t count, std::uint64_t at) {
  const auto* bytes = static_cast<const char*>(from);
  while (count > 0) {
    const auto wrote = ::pwrite(file, bytes, count, static_cast<off_t>(at));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes += wrote;
    at += static_cast<std::uint64_t>(wrote);
    count -= static_cast<std::uint64_t>(wrote);
  }
  return true;
}

/// Other images' files that no run used for long.
void remove_long_unused_pixels(const std::string& folder) {
  std::error_code gone;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& file : fs::directory_iterator(folder, gone)) {
    const auto path = file.path().string();
    if (path.ends_with(kPixelEnding) && now - file.last_write_time(gone) > kLongUnused && !gone &&
        remove_unused(path))
      remove_free_lock(path + ".lock");
  }
}

}  // namespace

struct PixelCache::Header {
  std::array<char, 16> magic;
  std::array<char, 40> boot;
  std::uint64_t slots;
  std::uint64_t used;     // bytes, entries that nothing leads to included
  std::uint64_t stopped;  // 1: nothing is added any more, which is logged
};

struct PixelCache::Entry {
  PixelKey key;
  std::int32_t width, height;          // of the image
  std::int32_t row_width, row_height;  // of the pixels
  std::uint16_t shrink, channels, scales, reserved;
  std::uint64_t check;  // of all above

  std::uint64_t pixel_bytes() const {
    return std::uint64_t(row_width) * std::uint64_t(row_height) * channels;
  }
  std::uint64_t checked() const {
    auto copy = *this;
    copy.check = 0;
    return 1 + crc32c({reinterpret_cast<const char*>(&copy), sizeof copy});
  }
};

PixelKey pixel_key(const std::string& path, const FileInfo& info) {
  PixelKey key{{}, info.size, info.changed};
  const auto digits = sha256(path);
  for (std::size_t i = 0; i < key.name.size(); ++i)
    key.name[i] = std::stoull(digits.substr(16 * i, 16), nullptr, 16);
  return key;
}

std::string default_pixel_cache() { return cache_folder() + "/images"; }

PixelCache::PixelCache(const Options& options)
    : path_(options.folder + "/" + sha256(options.name + "\n" + machine_name()) +
            std::string(kPixelEnding)),
      limit_(static_cast<std::uint64_t>(options.size)),
      slots_(std::bit_ceil(std::uint64_t(std::max<std::int64_t>(64, 4 * options.images)))) {
  static_assert(sizeof(Entry) <= kUnit && sizeof(Header) <= kPage);
  make_folders(options.folder);
  const FileLock lock(path_ + ".lock");
  if (!opened_existing()) {
    remove_long_unused_pixels(options.folder);
    make_new();
  }
  map();
  std::atomic_ref(header().stopped).store(0);  // there may be room again
  use_.emplace(path_);
}

PixelCache::~PixelCache() {
  guard_.reset();
  if (data_ != nullptr) ::munmap(data_, limit_);
  if (file_ >= 0) ::close(file_);
}

/// False where there is none, or it is of another boot or size.
bool PixelCache::opened_existing() {
  file_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file_ < 0 && errno != ENOENT) fail_at("open", path_, errno);
  if (file_ < 0) return false;
  Header found{};
  const auto boot = boot_of_machine();
  if (::pread(file_, &found, sizeof found, 0) == sizeof found && found.magic == kPixelMagic &&
      boot[0] != 0 && found.boot == boot && found.slots == slots_ && found.used <= limit_)
    return true;
  ::close(file_);
  file_ = -1;
  return false;
}

/// Takes the place of one that is here, which other processes may still use.
void PixelCache::make_new() {
  const auto temporary = temporary_name(path_);
  file_ = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file_ < 0) fail_at("write", path_, errno);
  const auto first = rounded_up(kPage + slots_ * sizeof(std::uint64_t), kPage);
  const Header made{kPixelMagic, boot_of_machine(), slots_, first, 0};
  int reason = ::posix_fallocate(file_, 0, static_cast<off_t>(first));
  if (reason == 0 && !write_whole(file_, &made, sizeof made, 0)) reason = errno;
  if (reason == 0 && ::rename(temporary.c_str(), path_.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  ::unlink(temporary.c_str());
  ::close(file_);
  fail_at("write", path_, reason);
}

void PixelCache::map() {
  limit_ = std::max(limit_, rounded_up(kPage + slots_ * sizeof(std::uint64_t), kPage));
  void* got = ::mmap(nullptr, limit_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (got == MAP_FAILED) {
    const int reason = errno;
    ::close(file_);
    fail_at("map", path_, reason);
  }
  data_ = static_cast<std::uint8_t*>(got);
  guard_.emplace(data_, limit_, path_);
}

PixelCache::Header& PixelCache::header() const { return *reinterpret_cast<Header*>(data_); }

std::span<std::uint64_t> PixelCache::words() const {
  return {reinterpret_cast<std::uint64_t*>(data_ + kPage), slots_};
}

/// Null where none is there.
const PixelCache::Entry* PixelCache::entry_at(std::uint64_t word) const {
  const auto at = (word >> kTagBits) * kUnit;
  if (word == 0 || at > limit_ - kUnit) return nullptr;
  const auto* entry = reinterpret_cast<const Entry*>(data_ + at);
  if (entry->check != entry->checked() || entry->pixel_bytes() > limit_ - kUnit - at)
    return nullptr;
  return entry;
}

namespace {

std::uint64_t tag_of(const PixelKey& key) { return key.name[1] & ((1U << kTagBits) - 1); }

/// Every word that may lead to an image, the first that is 0 last.
template <class Visit>
void probe_words(std::span<std::uint64_t> words, const PixelKey& key, const Visit& visit) {
  for (std::uint64_t i = 0; i < kMostProbes; ++i) {
    auto& word = words[(key.name[0] + i) & (words.size() - 1)];
    const auto value = std::atomic_ref(word).load(std::memory_order_acquire);
    if (value != 0 && (value & ((1U << kTagBits) - 1)) != tag_of(key)) continue;
    if (visit(word, value) || value == 0) return;
  }
}

}  // namespace

std::optional<DecodedPixels> PixelCache::find(const PixelKey& key, int shrink) const {
  std::optional<DecodedPixels> found;
  probe_words(words(), key, [&](std::uint64_t&, std::uint64_t value) {
    const auto* entry = entry_at(value);
    if (entry == nullptr || entry->key != key || (shrink != 0 && entry->shrink != shrink))
      return false;
    found = {{entry->width, entry->height},
             entry->shrink,
             entry->scales != 0,
             {reinterpret_cast<const std::uint8_t*>(entry) + kUnit,
              std::size_t(entry->row_width) * entry->channels, entry->row_width, entry->row_height,
              entry->channels}};
    return true;
  });
  return found;
}

bool PixelCache::has_room(std::uint64_t bytes) const {
  if (std::atomic_ref(header().stopped).load(std::memory_order_relaxed) != 0) return false;
  const auto used = std::atomic_ref(header().used).load(std::memory_order_relaxed);
  if (used <= limit_ && rounded_up(kUnit + bytes, kUnit) <= limit_ - used) return true;
  if (stop())
    log::info("'{}' has the {} of data.cache.size; images that are not in it are decoded each time",
              path_, format_bytes(static_cast<std::int64_t>(limit_)));
  return false;
}

/// Where so many bytes may be written; 0: nowhere.
std::uint64_t PixelCache::reserve(std::uint64_t bytes) const {
  const std::atomic_ref used(header().used);
  auto at = used.load();
  do {
    if (at > limit_ || bytes > limit_ - at) return 0;
  } while (!used.compare_exchange_weak(at, at + bytes));
  return at;
}

bool PixelCache::write(std::uint64_t at, const Entry& entry, const PixelView& pixels) const {
  std::array<std::uint8_t, kUnit> first{};
  std::memcpy(first.data(), &entry, sizeof entry);
  return write_whole(file_, pixels.first, entry.pixel_bytes(), at + kUnit) &&
         write_whole(file_, first.data(), first.size(), at);
}

void PixelCache::add(const PixelKey& key, const DecodedPixels& image) const {
  Entry entry{key,
              image.size.width,
              image.size.height,
              image.pixels.width,
              image.pixels.height,
              static_cast<std::uint16_t>(image.shrink),
              static_cast<std::uint16_t>(image.pixels.channels),
              image.scales,
              0,
              0};
  entry.check = entry.checked();
  DDP_CHECK(image.pixels.stride == std::size_t(image.pixels.width) * image.pixels.channels,
            "rows without gaps");
  if (!has_room(entry.pixel_bytes())) return;
  const auto at = reserve(rounded_up(kUnit + entry.pixel_bytes(), kUnit));
  if (at == 0) return;
  if (write(at, entry, image.pixels)) return publish(entry, at);
  const int reason = errno;
  if (stop())
    log::warning("cannot write to '{}': {}; images that are not in it are decoded each time", path_,
                 std::generic_category().message(reason));
}

/// In a free word, or that of the same image before its file changed. Where another thread was
/// first, or there is no word, the space stays unused.
void PixelCache::publish(const Entry& entry, std::uint64_t at) const {
  const auto wanted = at / kUnit << kTagBits | tag_of(entry.key);
  probe_words(words(), entry.key, [&](std::uint64_t& word, std::uint64_t value) {
    const auto* there = entry_at(value);
    const bool takes_its_place =
        there != nullptr && there->key.name == entry.key.name && there->shrink == entry.shrink;
    if (value != 0 && !takes_its_place) return false;
    return std::atomic_ref(word).compare_exchange_strong(value, wanted,
                                                         std::memory_order_acq_rel) ||
           takes_its_place;
  });
}

/// Whether this is the first time.
bool PixelCache::stop() const { return std::atomic_ref(header().stopped).exchange(1) == 0; }

}  // namespace ddptrain
