#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"

namespace ddptrain {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  void* mapped = nullptr;
  if (file >= 0 && ::fstat(file, &about) == 0 && about.st_size > 0)
    mapped =
        ::mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_SHARED, file, 0);
  const int reason = errno;
  if (file >= 0) ::close(file);
  if (file < 0 || mapped == MAP_FAILED)
    throw Error(Exit::data, "cannot read '" + path + "': " + std::strerror(reason));
  if (!mapped) throw Error(Exit::data, "'" + path + "' is empty");
  data_ = static_cast<const std::uint8_t*>(mapped);
  size_ = static_cast<std::size_t>(about.st_size);
  guard_.emplace(data_, size_, path);
  if (size_ > 2 && data_[0] == 0x1f && data_[1] == 0x8b) inflate();
}

void MappedFile::inflate() {
  constexpr std::size_t most = std::size_t{4} << 30, piece = 1 << 20;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path_.c_str(), "rb"), ::gzclose);
  if (!file) throw Error(Exit::data, "cannot read '" + path_ + "'");
  int read = 0;
  do {
    const auto before = own_.size();
    if (before > most) throw Error(Exit::data, "'" + path_ + "' is larger than 4 GiB unpacked");
    own_.resize(before + piece);
    read = ::gzread(file.get(), own_.data() + before, piece);
    own_.resize(before + static_cast<std::size_t>(std::max(read, 0)));
  } while (read > 0);
  int status = Z_OK;
  ::gzerror(file.get(), &status);
  if (read < 0 || status != Z_OK)
    throw Error(Exit::data, "'" + path_ + "' is cut short or damaged (gzip)");
  if (own_.empty()) throw Error(Exit::data, "'" + path_ + "' is empty");
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
