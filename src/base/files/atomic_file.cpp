#include "base/files/atomic_file.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {
namespace {

/// The permissions that a plain file would get.
mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  if (std::filesystem::is_directory(path_)) {
    errno = EISDIR;
    fail();
  }
  file_ = ::mkstemp(temporary_.data());
  if (file_ < 0) fail();
  ::fchmod(file_, usual_mode());
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  temporary_.clear();
  const auto parent = std::filesystem::path(path_).parent_path().string();
  sync_folder(parent.empty() ? "." : parent);
}

void AtomicFile::fail() const {
  throw Error(Exit::data, "cannot write '" + path_ + "': " + std::strerror(errno));
}

}  // namespace ddptrain
