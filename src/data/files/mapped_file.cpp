#include "data/files/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/files.h"

namespace ddptrain {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const InputFile file(path);
  if (file.size() == 0) throw Error(Exit::data, "'" + path + "' is empty");
  void* mapped = ::mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapped == MAP_FAILED)
    throw Error(Exit::data, "cannot read '" + path + "': " + std::strerror(errno));
  data_ = static_cast<const std::uint8_t*>(mapped);
  size_ = file.size();
  guard_.emplace(data_, size_, path);
  if (size_ > 2 && data_[0] == 0x1f && data_[1] == 0x8b) inflate(file);
}

void MappedFile::inflate(const InputFile& source) {
  constexpr std::size_t most = std::size_t{4} << 30, piece = 1 << 20;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzdopen(::dup(source.descriptor()), "rb"),
                                                        ::gzclose);
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
