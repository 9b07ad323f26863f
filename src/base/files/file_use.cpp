#include "base/files/file_use.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
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

bool removed_unless_in_use(const std::string& path) {
  const int file = opened(path);  // -1 also for what is no file, such as a link to nothing
  const bool in_use = file >= 0 && !lock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
  const int reason = in_use || ::unlink(path.c_str()) == 0 ? 0 : errno;
  if (file >= 0) ::close(file);
  if (reason != 0 && reason != ENOENT)
    throw Error(Exit::data, "cannot remove '{}': {}", path,
                std::generic_category().message(reason));
  return !in_use;
}

bool remove_free_lock(const std::string& path) {
  const FileLock lock(path, FileLock::Wait::not_at_all);
  return lock.held() && ::unlink(path.c_str()) == 0;
}

}  // namespace ddptrain
