#include "sources/files/file_use.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {
namespace {

bool lock(int file, int how) {
  int result = 0;
  do {
    result = ::flock(file, how);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

/// A descriptor of our own, -1 where the file cannot be opened (another process removed it).
int opened(const std::string& path) {
  try {
    return ::fcntl(InputFile(path).descriptor(), F_DUPFD_CLOEXEC, 0);
  } catch (const Error&) {
    return -1;
  }
}

}  // namespace

FileUse::FileUse(const std::string& path) : file_(opened(path)) {
  if (file_ < 0) return;
  lock(file_, LOCK_SH);
  ::futimens(file_, nullptr);  // in vain where the file belongs to another user
}

FileUse::~FileUse() {
  if (file_ >= 0) ::close(file_);
}

FileUse::FileUse(FileUse&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

bool remove_unused(const std::string& path) {
  const int file = opened(path);
  if (file < 0) return false;
  const bool removed = lock(file, LOCK_EX | LOCK_NB) && ::unlink(path.c_str()) == 0;
  ::close(file);
  return removed;
}

}  // namespace ddptrain
