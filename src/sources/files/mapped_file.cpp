#include "sources/files/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

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

bool is_gzip(const InputFile& file) {
  char start[3] = {};
  if (file.size() >= sizeof start) file.read(start, sizeof start, 0);
  return start[0] == '\x1f' && start[1] == '\x8b';
}

[[noreturn]] void refuse_bomb(const InputFile& file, std::size_t most) {
  const auto text = [](std::uint64_t bytes) {
    return format_bytes(static_cast<std::int64_t>(bytes));
  };
  throw Error(Exit::data, "'" + file.path() + "' has " + text(file.size()) +
                              " and becomes larger than " + text(most) +
                              " unpacked (gzip); if that is right, unpack it with gunzip and name "
                              "the unpacked file");
}

/// Memory that grows without being copied, and takes no more than what was written.
class Pages {
 public:
  Pages() = default;
  ~Pages() {
    if (start_) ::munmap(start_, capacity_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

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

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const InputFile file(path);
  if (file.size() == 0) throw Error(Exit::data, "'" + path + "' is empty");
  is_gzip(file) ? inflate(file) : map(file);
}

void MappedFile::map(const InputFile& file) {
  void* mapped = ::mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapped == MAP_FAILED)
    throw Error(Exit::data, "cannot read '" + path_ + "': " + std::strerror(errno));
  data_ = static_cast<const std::uint8_t*>(mapped);
  size_ = file.size();
  guard_.emplace(data_, size_, path_);
}

void MappedFile::inflate(const InputFile& file) {
  constexpr std::size_t piece = 1 << 20;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> gzip(::gzdopen(::dup(file.descriptor()), "rb"),
                                                        ::gzclose);
  if (!gzip) throw Error(Exit::data, "cannot read '" + path_ + "'");
  const auto most = most_inflated(file.size());
  Pages pages;
  int read = 0;
  do {
    if (pages.size() > most) refuse_bomb(file, most);
    read = ::gzread(gzip.get(), pages.room(piece), piece);
    pages.add(static_cast<std::size_t>(std::max(read, 0)));
  } while (read > 0);
  int status = Z_OK;
  ::gzerror(gzip.get(), &status);
  if (read < 0 || status != Z_OK)
    throw Error(Exit::data, "'" + path_ + "' is cut short or damaged (gzip)");
  if (pages.size() == 0) throw Error(Exit::data, "'" + path_ + "' is empty");
  std::tie(data_, size_) = pages.release();
}

MappedFile::~MappedFile() {
  guard_.reset();  // before another mapping can have its addresses
  if (data_) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      own_(std::move(other.own_)),
      guard_(std::move(other.guard_)) {
  other.guard_.reset();
}

}  // namespace ddptrain
