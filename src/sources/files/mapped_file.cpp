#include "sources/files/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <tuple>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// What a file may become. Texts and pixels shrink to a twentieth; gzip's own limit is a
/// thousandth, which zeros reach.
std::size_t most_inflated(std::size_t packed) {
  constexpr std::size_t small = std::size_t{64} << 20, most = std::size_t{4} << 30, ratio = 200;
  return std::clamp(packed * ratio, small, most);
}

using Bytes = std::span<const std::uint8_t>;

bool is_gzip(Bytes bytes) { return bytes.size() >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b; }

[[noreturn]] void refuse_bomb(const std::string& path, std::size_t packed, std::size_t most) {
  const auto text = [](std::uint64_t bytes) {
    return format_bytes(static_cast<std::int64_t>(bytes));
  };
  throw Error(Exit::data,
              "'{}' has {} and becomes larger than {} unpacked (gzip); if that is right, unpack it "
              "with gunzip and name the unpacked file",
              path, text(packed), text(most));
}

/// Memory that grows without being copied, and takes no more than what was written.
class Pages {
 public:
  Pages() = default;
  ~Pages() {
    if (start_) ::munmap(start_, capacity_);
  }
  Pages(Pages&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)),
        size_(other.size_),
        capacity_(other.capacity_) {}
  Pages& operator=(Pages&&) = delete;

  std::size_t size() const { return size_; }
  /// `count` bytes at the end, to be written and then added.
  std::uint8_t* room(std::size_t count) {
    if (capacity_ - size_ < count) grow(std::max(2 * capacity_, size_ + count));
    return start_ + size_;
  }
  void add(std::size_t count) { size_ += count; }
  /// Start and length of the mapping, the caller unmaps it.
  std::pair<const std::uint8_t*, std::size_t> release() {
    grow(size_);
    return {std::exchange(start_, nullptr), size_};
  }

 private:
  void grow(std::size_t capacity) {
    void* moved = start_ ? ::mremap(start_, capacity_, capacity, MREMAP_MAYMOVE)
                         : ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::uint8_t*>(moved);
    capacity_ = capacity;
  }

  std::uint8_t* start_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// A gzip file (RFC 1952) of one or several members. What follows the last is left out, as gzip
/// does.
class Inflater {
 public:
  Inflater(Bytes packed, const std::string& path) : packed_(packed), path_(path) {
    if (::inflateInit2(&stream_, kGzip) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Pages run() {
    const auto most = most_inflated(packed_.size());
    Pages pages;
    while (next_piece(pages))
      if (pages.size() > most) refuse_bomb(path_, packed_.size(), most);
    return pages;
  }

 private:
  static constexpr int kGzip = 15 + 16;  // zlib's word for the largest window, with gzip's header

  /// Returns false at the end of the last member.
  bool next_piece(Pages& pages) {
    constexpr unsigned piece = 1 << 20;
    if (stream_.avail_in == 0) feed();
    stream_.next_out = pages.room(piece);
    stream_.avail_out = piece;
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    pages.add(piece - stream_.avail_out);
    if (status == Z_STREAM_END) return next_member();
    if (status != Z_OK) throw Error(Exit::data, "'{}' is cut short or damaged (gzip)", path_);
    return true;
  }
  void feed() {
    const auto size = std::min<std::size_t>(packed_.size() - fed_, 1 << 30);
    stream_.next_in = const_cast<std::uint8_t*>(packed_.data()) + fed_;
    stream_.avail_in = static_cast<unsigned>(size);
    fed_ += size;
  }
  bool next_member() {
    const auto rest = packed_.subspan(fed_ - stream_.avail_in);
    return is_gzip(rest) && ::inflateReset(&stream_) == Z_OK;
  }

  Bytes packed_;
  const std::string& path_;
  z_stream stream_{};
  std::size_t fed_ = 0;  // bytes of packed_ that zlib was given
};

}  // namespace

MappedFile::MappedFile(const std::string& path) : MappedFile(path, path) {}

MappedFile::MappedFile(const std::string& copy, const std::string& name)
    : MappedFile(std::vector<std::uint8_t>()) {
  path_ = name;
  const InputFile file(copy);
  if (file.size() == 0) throw Error(Exit::data, "'{}' is empty", name);
  map(file);
  if (is_gzip(bytes())) inflate();
}

MappedFile::MappedFile(std::vector<std::uint8_t> bytes, const std::string& path)
    : MappedFile(std::move(bytes)) {
  path_ = path;
  if (own_.empty()) throw Error(Exit::data, "'{}' is empty", path);
  if (is_gzip(own_)) inflate();
}

void MappedFile::map(const InputFile& file) {
  void* mapped = ::mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapped == MAP_FAILED)
    throw Error(Exit::data, "cannot read '{}': {}", path_, std::strerror(errno));
  data_ = static_cast<const std::uint8_t*>(mapped);
  size_ = file.size();
  guard_.emplace(data_, size_, path_);
}

void MappedFile::inflate() {
  auto pages = Inflater(bytes(), path_).run();
  if (pages.size() == 0) throw Error(Exit::data, "'{}' is empty", path_);
  release();
  std::tie(data_, size_) = pages.release();
}

void MappedFile::release() {
  guard_.reset();  // before another mapping can have its addresses
  if (data_) ::munmap(const_cast<std::uint8_t*>(data_), size_);
  own_ = {};
}

MappedFile::~MappedFile() { release(); }

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      own_(std::move(other.own_)),
      guard_(std::move(other.guard_)) {
  other.guard_.reset();
}

}  // namespace ddptrain
