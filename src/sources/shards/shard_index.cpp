#include "sources/shards/shard_index.h"

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files/cache_folder.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/url.h"

namespace ddptrain {
namespace {

/// magic, checksum of all behind it, then little-endian numbers and texts with their lengths.
constexpr std::string_view index_magic = "ddpshrd1";
constexpr std::size_t index_prefix = 12;
constexpr std::uint64_t most_content = 4096;
constexpr std::size_t most_index = std::size_t{4} << 30;
constexpr std::uint64_t no_content = ~std::uint64_t{0};

template <class T>
void put_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_words(std::string& out, std::string_view text) {
  put_number<std::uint64_t>(out, text.size());
  out += text;
}

/// Takes values off the front of bytes; `good` is false once there are too few.
struct Taker {
  std::string_view left;
  bool good = true;

  template <class T>
  T number() {
    T value{};
    const auto bytes = take(sizeof value);
    if (good) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view take(std::uint64_t count) {
    good = good && count <= left.size();
    if (!good) return {};
    const auto taken = left.substr(0, count);
    left.remove_prefix(count);
    return taken;
  }
  std::string text() { return std::string(take(number<std::uint64_t>())); }
};

TarMember take_member(Taker& from) {
  TarMember member;
  member.name = from.text();
  member.offset = from.number<std::uint64_t>();
  member.size = from.number<std::uint64_t>();
  const auto content = from.number<std::uint64_t>();
  if (content != no_content) member.content = std::string(from.take(content));
  return member;
}

bool is_remote(const std::string& shard) { return !url_scheme(shard).empty(); }

std::string cached_index(const std::string& shard, const std::string& ending) {
  const auto path =
      is_remote(shard) ? shard : std::filesystem::absolute(shard).lexically_normal().string();
  return cache_folder() + "/shards/" + sha256(path) + ending;
}

/// One that is there and of this state of the shard. Stores give files times of their own, so that
/// there an index belongs to a shard of its size, whose digest is checked when it is fetched.
std::optional<ShardIndex> fresh(const FileSystem& files, const std::string& file,
                                const FileInfo& now) {
  if (files.info(file).kind != FileKind::file) return {};
  auto index = ShardIndex::decode(read_text(files, file, most_index));
  if (!index) log::warning("'{}' is damaged; it is rebuilt", file);
  if (!index || index->size != now.size) return {};
  const bool checked_later = is_remote(file) && !index->digest.empty();
  if (!checked_later && index->changed != now.changed) return {};
  return index;
}

std::optional<ShardIndex> found_index(const FileSystem& files, const std::string& shard,
                                      const FileInfo& now) {
  if (auto index = fresh(files, shard_index_path(shard), now)) return index;
  try {
    return fresh(local_files(), cached_index(shard, ".index"), now);
  } catch (const Error&) {
    return {};  // `cache clear` may remove it at any time
  }
}

/// Returns false where the folder takes no file.
bool write_index(const std::string& file, const std::string& bytes) {
  const auto folder = std::filesystem::path(file).parent_path().string();
  if (!is_writable(folder)) return false;
  make_folders(folder);
  write_atomically(file, bytes);
  return true;
}

ShardIndex made_index(const FileSystem& files, const std::string& shard, const FileInfo& now) {
  ShardIndex index{now.size, now.changed, {}, read_tar(files, shard, is_indexed_whole)};
  const auto bytes = index.encode();
  const bool written = !is_remote(shard) && write_index(shard_index_path(shard), bytes);
  if (!written) write_index(cached_index(shard, ".index"), bytes);
  return index;
}

}  // namespace

std::string ShardIndex::encode() const {
  std::string out(index_magic);
  out.resize(index_prefix);
  put_number(out, size);
  put_number(out, changed);
  put_words(out, digest);
  put_number<std::uint64_t>(out, members.size());
  for (const auto& member : members) {
    put_words(out, member.name);
    put_number(out, member.offset);
    put_number(out, member.size);
    put_number<std::uint64_t>(out, member.content ? member.content->size() : no_content);
    if (member.content) out += *member.content;
  }
  const auto sum = crc32c(std::string_view(out).substr(index_prefix));
  std::memcpy(out.data() + index_magic.size(), &sum, sizeof sum);
  return out;
}

std::optional<ShardIndex> ShardIndex::decode(std::string_view bytes) {
  Taker from{bytes};
  if (from.take(index_magic.size()) != index_magic) return {};
  const auto sum = from.number<std::uint32_t>();
  if (!from.good || crc32c(from.left) != sum) return {};
  ShardIndex index{from.number<std::uint64_t>(), from.number<std::int64_t>(), from.text(), {}};
  for (auto count = from.number<std::uint64_t>(); count > 0 && from.good; --count)
    index.members.push_back(take_member(from));
  if (!from.good || !from.left.empty()) return {};
  return index;
}

bool is_indexed_whole(const TarMember& member) {
  const auto& name = member.name;
  return member.size <= most_content && (name.ends_with(".cls") || name.ends_with(".json"));
}

ShardIndex indexed(const FileSystem& files, const std::string& shard) {
  const auto now = files.info(shard);
  if (now.kind != FileKind::file)
    throw Error(Exit::data, "shard '{}' cannot be read: {}", shard, now.why);
  if (auto index = found_index(files, shard, now)) return std::move(*index);
  const auto lock_file = cached_index(shard, ".lock");
  if (!is_writable(std::filesystem::path(lock_file).parent_path().string()))
    return made_index(files, shard, now);
  make_folders(std::filesystem::path(lock_file).parent_path().string());
  const FileLock lock(lock_file);
  if (auto index = found_index(files, shard, now)) return std::move(*index);
  return made_index(files, shard, now);
}

}  // namespace ddptrain
