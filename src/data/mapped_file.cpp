#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

}  // namespace ddptrain
